import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { refuseCoreModule } from "./core-module.ts";
import { filesToServe } from "./serve/configuration.ts";

const core = Buffer.from("AGFzbQEAAAA=", "base64");
const component = Buffer.from("AGFzbQ0AAQA=", "base64");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-core-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("a core module is refused by its name, and nothing else", () => {
  expect(() => refuseCoreModule(core, "core.wasm")).toThrow("core.wasm is a core module of WebAssembly");
  for (const other of [component, Buffer.alloc(0), core.subarray(0, 4), Buffer.from("text")])
    refuseCoreModule(other, "other.wasm");
});

test("tenon run refuses a core module, and a folder that is called like a component", async () => {
  const [file, other] = [join(folder, "core.wasm"), join(folder, "component.wasm")];
  await writeFile(file, core);
  await writeFile(other, component);
  await expect(filesToServe([file], undefined)).rejects.toMatchObject({
    code: "NOT_A_COMPONENT",
    hint: expect.stringContaining("wasm-tools component new"),
  });
  expect(await filesToServe([other], undefined)).toEqual({ files: [other], named: [other] });
  const inFolder = join(folder, "d.wasm");
  await mkdir(inFolder);
  await expect(filesToServe([inFolder], undefined)).rejects.toThrow("d.wasm: it is not a regular file");
  await expect(filesToServe([join(folder, "none.wasm")], undefined)).rejects.toThrow("there is no such file");
});
