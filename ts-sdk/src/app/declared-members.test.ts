import { afterEach, expect, test, vi } from "vitest";
import { jsonWriterKey } from "../abi.ts";
import { platform } from "../platform.ts";
import { copyByShape, writerOf } from "./declared-members.ts";
import type { Shape } from "./shape.ts";

const shape: Shape = { kind: "object", fields: { id: { kind: "u32" } } };

afterEach(() => {
  delete platform[jsonWriterKey];
  vi.restoreAllMocks();
});

test("the engine's writer is made once, and gets the value", () => {
  const write = vi.fn(() => "written");
  const make = vi.fn(() => write);
  platform[jsonWriterKey] = make;
  const writer = writerOf(shape);
  const value = { id: 1, secret: 2 };
  expect([writer(value), writer(value)]).toEqual(["written", "written"]);
  expect(make.mock.calls).toEqual([[shape]]);
  expect(write.mock.calls).toEqual([[value], [value]]);
});

test("a value that the engine's writer leaves is copied", () => {
  platform[jsonWriterKey] = () => () => undefined;
  expect(writerOf(shape)({ id: 1, secret: 2 })).toBe('{"id":1}');
  expect(() => writerOf(shape)({ id: 1n })).toThrow(TypeError);
});

test("an engine without a writer copies", () => {
  expect(writerOf(shape)({ id: 1, secret: 2 })).toBe('{"id":1}');
  expect(copyByShape(shape)({ id: 1, secret: 2 })).toEqual({ id: 1 });
});

test("a replaced JSON.stringify writes", () => {
  platform[jsonWriterKey] = () => () => "written";
  const writer = writerOf(shape);
  vi.spyOn(JSON, "stringify").mockReturnValue("replaced");
  expect(writer({ id: 1 })).toBe("replaced");
});
