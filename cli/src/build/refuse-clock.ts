/**
 * Runs inside the component, before all modules, so it is self-contained. At top level the engine's clock ends the build
 * without a place; this one throws an error that has one. It adds a function with which the entry removes it. A function
 * that a module took at top level calls the engine's afterwards.
 */
export function refuseClock(): void {
  const scope = globalThis as { [key: symbol]: unknown };
  const clock = performance;
  const { now } = clock;
  const value = () => {
    if (scope[Symbol.for("tenon.building")]) throw new Error("performance.now() works in a handler, not at top level");
    return now.call(clock);
  };
  Object.defineProperty(clock, "now", { value, configurable: true, writable: true });
  scope[Symbol.for("tenon.clock")] = () => {
    // A module may have put its own there.
    if (clock.now === value) Reflect.deleteProperty(clock, "now");
  };
}
