/** `node:perf_hooks` inside a component: the clock alone. */
export const { performance } = globalThis;
export default { performance };
