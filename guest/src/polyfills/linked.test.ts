import { runInNewContext } from "node:vm";
import { beforeEach, expect, test, vi } from "vitest";
import { LinkedModule } from "./linked.ts";

/** The memory of the only module. */
const bytes = vi.hoisted(() => new Uint8Array(64));
vi.mock("./linked-engine.ts", () => ({
  find: () => [0, 0],
  write(_: number, offset: number, from: Uint8Array) {
    bytes.set(from, offset);
    return true;
  },
}));
beforeEach(() => void bytes.fill(0));

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
  const memory = new LinkedModule(1, 2).memory(0);
  const error = new TypeError(`memory.write: the bytes must be a Uint8Array, not ${kind}`);
  expect(() => memory.write(8, value as never)).toThrow(error);
  expect(bytes).toEqual(new Uint8Array(64));
});

test("writes a Uint8Array of any realm, and Node's", () => {
  const memory = new LinkedModule(1, 2).memory(0);
  for (const [from, first] of [
    [new Uint8Array([7]), 7],
    [Buffer.from([8]), 8],
    [runInNewContext("new Uint8Array([9])"), 9],
  ] as const) {
    memory.write(8, from);
    expect(bytes[8]).toBe(first);
  }
});
