import { afterEach, expect, test } from "vitest";
import { refuseClock } from "./refuse-clock.ts";

const building = Symbol.for("tenon.building");
const end = Symbol.for("tenon.clock");
const here = globalThis as { [key: symbol]: unknown };
afterEach(() => {
  for (const key of [building, end]) delete here[key];
  Reflect.deleteProperty(performance, "now");
});

const allow = () => (here[end] as () => void)();

test("the clock throws while the top level runs, and goes afterwards", () => {
  const engine = performance.now;
  here[building] = new Map();
  refuseClock();
  const taken = performance.now.bind(performance);
  expect(taken).toThrow("performance.now() works in a handler, not at top level");
  delete here[building];
  allow();
  expect(taken()).toBeGreaterThan(0);
  expect(performance.now).toBe(engine);
});

test("a module's own clock stays", () => {
  refuseClock();
  const own = () => 1;
  performance.now = own;
  allow();
  expect(performance.now).toBe(own);
});
