/** A timer as the engine has it. */
type SetTimer = (callback: () => void, delay?: number) => unknown;

/**
 * Runs inside the component, before all modules, and so is all in one: what it calls is the engine's. The engine keeps timers
 * that a request leaves behind and runs them in the next one that the instance serves; with the function that this puts
 * beside the globals the entry forgets them first.
 */
export function ownTimers(): void {
  const engine = globalThis as unknown as Record<string | symbol, unknown>;
  const left: unknown[] = [];
  for (const name of ["setTimeout", "setInterval"]) {
    const set = engine[name] as SetTimer;
    engine[name] = (callback: (...args: unknown[]) => void, delay?: number, ...args: unknown[]): unknown => {
      const timer = set(() => callback(...args), delay);
      left.push(timer);
      return timer;
    };
  }
  engine[Symbol.for("tenon.timers")] = () => {
    while (left.length > 0) clearTimeout(left.pop() as number);
  };
}
