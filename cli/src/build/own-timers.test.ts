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
  vi.stubGlobal("setTimeout", set.setTimeout);
  vi.stubGlobal("setInterval", set.setInterval);
  vi.stubGlobal("clearTimeout", (timer: unknown) => cleared.push(timer));
  ownTimers();
  const forget = Reflect.get(globalThis, Symbol.for("tenon.timers")) as () => void;
  return { cleared, forget };
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
  expect(cleared).toEqual([2, 1]);
  forget();
  expect(cleared).toEqual([2, 1]);
});
