import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco";
import { afterAll, beforeAll, expect, test } from "vitest";
import { instantiate, wasm } from "./wasm.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-wasm-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function written(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, await parse(text));
  return file;
}

test("a module is loaded with its functions and memories, under any name", async () => {
  const file = await written(
    "m.wasm",
    '(module (memory (export "m") 1 2) (global (export "g") i32 (i32.const 1)) (func (export "a-b")))',
  );
  const code = await wasm().load(file);
  expect(code).toContain('as "m"');
  expect(code).toContain('as "a-b"');
  expect(code).not.toContain('"g"');
  expect(await wasm().load(`${file}?init`)).toBeUndefined();
  expect(await wasm().load("/src/handler.ts")).toBeUndefined();
});

test("a memory is copied from and to, within its bounds", async () => {
  const file = await written("memory.wasm", '(module (memory (export "m") 1 2) (data (i32.const 8) "text"))');
  const { m } = (await instantiate(file)) as {
    m: {
      read(at: number, length: number): Uint8Array;
      write(at: number, bytes: Uint8Array): void;
      size: number;
      grow(pages: number): number;
    };
  };
  expect(Buffer.from(m.read(8, 4)).toString()).toBe("text");
  m.write(65_535, new Uint8Array([7]));
  expect(m.read(65_535, 1)).toEqual(new Uint8Array([7]));
  for (const [at, length] of [
    [65_536, 1],
    [-1, 1],
    [0.5, 1],
    [0, -1],
  ] as const)
    expect(() => m.read(at, length)).toThrow(RangeError);
  expect(() => m.write(65_536, new Uint8Array(1))).toThrow(RangeError);
  for (const [value, kind] of [
    ["text", "a string"],
    [new Uint16Array(1), "a Uint16Array"],
  ] as const)
    expect(() => m.write(0, value as never)).toThrow(
      new TypeError(`memory.write: the bytes must be a Uint8Array, not ${kind}`),
    );
  expect([m.grow(1), m.size]).toEqual([1, 131_072]);
  expect(() => m.grow(1)).toThrow(RangeError);
});

test("a component is refused", async () => {
  const file = await written("component.wasm", "(component)");
  await expect(wasm().load(file)).rejects.toThrow("component.wasm is a component, which Node cannot run");
});
