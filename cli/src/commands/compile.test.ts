import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const tenon = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));
const run = (args: readonly string[]) =>
  spawnSync(process.execPath, [tenon, ...args], { cwd: folder, encoding: "utf8" });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-compile-"));
  await writeFile(join(folder, "core.wasm"), Buffer.from("AGFzbQEAAAA=", "base64"));
  await writeFile(join(folder, "text.wasm"), "text");
  expect(run(["bridge", "-q"]).status).toBe(0);
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  [["core.wasm"], 1, "core.wasm is a core module of WebAssembly, not a component"],
  [["text.wasm"], 1, "text.wasm is not a WebAssembly component"],
  [["."], 1, "cannot read .: it is a folder\n"],
  [["none.wasm"], 1, "cannot read none.wasm: there is no such file or folder\nhint: run `tenon build` first\n"],
  [["bridge.wasm", "--target-cpu", "i386"], 2, "`i386` is not a known processor"],
  [["bridge.wasm", "--target", "vms"], 2, "the target `vms` must be one of linux-x64, linux-arm64, darwin-x64,"],
  [["bridge.wasm", "--target", "darwin-arm64", "--target-cpu", "x86-64"], 2, "`x86-64` is not a known processor"],
])("tenon compile %j", (args, status, message) => {
  const compiled = run(["compile", ...args]);
  expect(compiled).toMatchObject({ status, stdout: "", stderr: expect.stringContaining(`error: ${message}`) });
});

// The field `e_machine` of an ELF file.
test.each([
  ["linux-arm64", 183],
  ["aarch64-linux", 183],
  ["linux-x64", 62],
  ["darwin-arm64", 183],
  ["win32-x64", 62],
])("tenon compile --target %s makes code for that system", async (target, machine) => {
  const compiled = run(["compile", "bridge.wasm", "-o", `${target}.cwasm`, "--target", target]);
  expect(compiled.stderr).toContain(`bridge.wasm for ${target}`);
  expect((await readFile(join(folder, `${target}.cwasm`))).readUInt16LE(18)).toBe(machine);
});
