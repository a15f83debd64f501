import { afterEach, expect, test, vi } from "vitest";
import { ownTimers } from "./own-timers.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(globalThis, Symbol.for("tenon.timers"));
});

/** The global timer functions as an engine has them. */
function stubTimers() {
  let timers = 0;
  const refuse = (callback: unknown) => {
    if (typeof callback !== "function") throw new TypeError("first argument must be a function");
    callbacks.push(callback as () => void);
    return ++timers;
  };
  const set = {
    // Methods, which have no prototype.
    setTimeout(callback: unknown) {
      return refuse(callback);
    },
    setInterval(callback: unknown) {
      return refuse(callback);
    },
  };
  const cleared: unknown[] = [];
  const callbacks: (() => void)[] = [];
  vi.stubGlobal("setTimeout", set.setTimeout);
  vi.stubGlobal("setInterval", set.setInterval);
  const clear = {
    clearTimeout(timer: unknown) {
      cleared.push(timer);
    },
    clearInterval(timer: unknown) {
      cleared.push(timer);
    },
  };
  vi.stubGlobal("clearTimeout", clear.clearTimeout);
  vi.stubGlobal("clearInterval", clear.clearInterval);
  ownTimers();
  const forget = Reflect.get(globalThis, Symbol.for("tenon.timers")) as () => void;
  return { callbacks, cleared, forget };
}

test("timers have the engine's name, length and prototype, and refuse what it refuses", () => {
  stubTimers();
  for (const name of ["setTimeout", "setInterval"] as const) {
    const timer = globalThis[name];
    expect([timer.name, timer.length, Object.hasOwn(timer, "prototype")]).toEqual([name, 1, false]);
    expect(() => Reflect.apply(timer, undefined, ["text"])).toThrow("first argument must be a function");
  }
});

test("timers that were left behind are forgotten, whatever became of arrays", () => {
  const { cleared, forget } = stubTimers();
  setTimeout(() => {});
  Object.defineProperty(Array.prototype, "0", { set: () => {}, configurable: true });
  setInterval(() => {});
  Reflect.deleteProperty(Array.prototype, "0");
  forget();
  expect(cleared).toEqual([1, 2]);
  forget();
  expect(cleared).toEqual([1, 2]);
});

test("a timer that has fired or was cleared is not forgotten again", () => {
  const { callbacks, cleared, forget } = stubTimers();
  const fired: unknown[] = [];
  for (let n = 0; n < 3; n++) setTimeout(() => fired.push(n));
  setInterval(() => fired.push("interval"));
  setInterval(() => {});
  callbacks[1]?.();
  callbacks[3]?.();
  clearTimeout(1 as never);
  clearInterval(5 as never);
  expect([fired, cleared]).toEqual([
    [1, "interval"],
    [1, 5],
  ]);
  forget();
  expect(cleared).toEqual([1, 5, 3, 4]);
});

test("a callback gets its arguments", () => {
  const { callbacks } = stubTimers();
  const got: unknown[] = [];
  setTimeout((...args: unknown[]) => got.push(args), 0);
  (callbacks[0] as (...args: unknown[]) => void)("a", 1);
  expect(got).toEqual([["a", 1]]);
});
