/** `node:perf_hooks` inside a component, which has only the clock. */
export const { performance } = globalThis;
export default { performance };
