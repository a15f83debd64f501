import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { LinkedModule } from "./linked.ts";

const key = Symbol.for("tenon.modules");
const here = globalThis as { [key: symbol]: unknown };
afterEach(() => void delete here[key]);

/** Stands in for the engine: a memory at address 0 that takes any bytes. */
function engine(): Uint8Array {
  const memory = { buffer: new ArrayBuffer(64) };
  here[key] = { memory, allocate: () => 0, free: () => 0, ask: () => 1 };
  return new Uint8Array(memory.buffer);
}

test.each([
  ["text", "a string"],
  [new Uint16Array([1]), "a Uint16Array"],
  [new Uint8ClampedArray(1), "a Uint8ClampedArray"],
  [new ArrayBuffer(1), "an ArrayBuffer"],
  [[1], "an Array"],
  ["", "a string"],
  [undefined, "undefined"],
  [null, "null"],
])("writing %o throws a TypeError", (value, kind) => {
  const bytes = engine();
  const memory = new LinkedModule(1, 2).memory(0);
  const error = new TypeError(`memory.write: the bytes are a Uint8Array, and not ${kind}`);
  expect(() => memory.write(8, value as never)).toThrow(error);
  expect(bytes).toEqual(new Uint8Array(64));
});

test("writes a Uint8Array of any realm, and Node's", () => {
  const bytes = engine();
  const memory = new LinkedModule(1, 2).memory(0);
  for (const [from, first] of [
    [new Uint8Array([7]), 7],
    [Buffer.from([8]), 8],
    [runInNewContext("new Uint8Array([9])"), 9],
  ] as const) {
    memory.write(8, from);
    expect(bytes[0]).toBe(first);
  }
});
