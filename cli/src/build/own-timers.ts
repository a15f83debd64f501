/** A timer function of the engine. */
type TimerFunction = (...args: unknown[]) => unknown;

/**
 * Runs inside the component, before all modules, so it is self-contained and calls only the engine's functions. The
 * engine keeps timers that a request leaves behind and runs them in the next one that the instance serves. This code
 * records every timer, and adds a function with which the entry clears them first. A timer that has fired or was
 * cleared is no longer noted, because one streamed answer may set any number.
 *
 * A proxy leaves everything else to the engine: name, length, and which arguments are refused.
 */
export function ownTimers(): void {
  const engine = globalThis as unknown as Record<string | symbol, unknown>;
  const { apply } = Reflect;
  const clear = clearTimeout;
  // Without a prototype, because a handler may change those of arrays and maps.
  let left: Record<number, true> = Object.create(null);
  let count = 0;
  const strike = (timer: unknown) => {
    if (typeof timer !== "number" || !left[timer]) return;
    delete left[timer];
    count--;
  };
  const replace = (name: string, call: (engineFunction: TimerFunction, self: unknown, args: unknown[]) => unknown) => {
    engine[name] = new Proxy(engine[name] as TimerFunction, { apply: call });
  };
  // The engine's longest timer stands for the end of a call (glue.ts); these are shorter by a minute. The engine takes 32 bits.
  const longest = 2 ** 31 - 1 - 60_000;
  const shorten = (args: unknown[]) => {
    if (args.length > 1) args[1] = Math.min((args[1] as number) | 0, longest);
  };
  const note = (timer: unknown) => {
    left[timer as number] = true;
    count++;
    return timer;
  };
  replace("setTimeout", (set, self, args) => {
    const [callback] = args;
    shorten(args);
    if (typeof callback !== "function") return note(apply(set, self, args));
    args[0] = function (this: unknown, ...given: unknown[]) {
      strike(timer);
      return apply(callback, this, given);
    };
    const timer = note(apply(set, self, args));
    return timer;
  });
  replace("setInterval", (set, self, args) => {
    shorten(args);
    return note(apply(set, self, args));
  });
  for (const name of ["clearTimeout", "clearInterval"]) {
    replace(name, (engineClear, self, args) => {
      strike(args[0]);
      return apply(engineClear, self, args);
    });
  }
  engine[Symbol.for("tenon.timers")] = () => {
    if (count === 0) return;
    const timers = left;
    left = Object.create(null);
    count = 0;
    for (const timer in timers) clear(+timer);
  };
}
