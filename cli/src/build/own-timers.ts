/** A timer function of the engine. */
type SetTimer = (...args: unknown[]) => unknown;

/**
 * Runs inside the component, before all modules, and so is all in one: what it calls is the engine's. The engine keeps timers
 * that a request leaves behind and runs them in the next one that the instance serves. This notes every timer, and puts a
 * function beside the globals with which the entry forgets them first.
 *
 * A proxy leaves everything else to the engine: name, length, and which arguments are refused.
 */
export function ownTimers(): void {
  const engine = globalThis as unknown as Record<string | symbol, unknown>;
  const { apply } = Reflect;
  const clear = clearTimeout;
  // Without a prototype, because a handler may change those of arrays.
  const left: Record<number, unknown> = Object.create(null);
  let count = 0;
  for (const name of ["setTimeout", "setInterval"]) {
    engine[name] = new Proxy(engine[name] as SetTimer, {
      apply: (set, self, args) => {
        const timer = apply(set, self, args);
        left[count++] = timer;
        return timer;
      },
    });
  }
  engine[Symbol.for("tenon.timers")] = () => {
    while (count > 0) clear(left[--count] as number);
  };
}
