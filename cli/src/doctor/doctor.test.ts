import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePort } from "../../../testing/free-port.ts";
import { version } from "../package.ts";
import { requireProject } from "../project/project.ts";
import { cacheCheck } from "./cache.ts";
import { installationChecks, isAtLeast, nodeCheck } from "./installed.ts";
import { addressSpaceCheck, kernelChecks, pageCheck, scanCheck } from "./kernel.ts";
import { portCheck } from "./ports.ts";
import { projectChecks } from "./project.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-doctor-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("here everything is installed", () => {
  expect(installationChecks().map(({ name, state }) => [name, state])).toEqual([
    ["tenon", "ok"],
    ["Node", "ok"],
    ["addon", "ok"],
    ["engine", "ok"],
  ]);
});

test("Node must be new enough", () => {
  expect(nodeCheck("20.19.0")).toEqual({ name: "Node", state: "ok", found: "20.19.0" });
  expect(nodeCheck("20.18.3")).toMatchObject({ state: "error", found: "20.18.3, and Tenon needs 20.19" });
  expect(isAtLeast("22.1.0", "20.19")).toBe(true);
  expect(isAtLeast("6.7.0-1-amd64", "6.7.0")).toBe(true);
  expect(isAtLeast("6.1.0-13-amd64", "6.7.0")).toBe(false);
});

test("a kernel without PAGEMAP_SCAN costs time only", async () => {
  expect(scanCheck("6.18.4").state).toBe("ok");
  expect(scanCheck("6.1.0-13-amd64")).toMatchObject({ state: "note", todo: "Linux 6.7 or later has it" });
  expect(scanCheck("6.18.4", join(folder, "gone"))).toMatchObject({ state: "note" });
  expect(kernelChecks().filter(({ state }) => state === "error")).toEqual([]);
});

test("pages of another size, and a limit of the address space, are errors", async () => {
  const auxv = (pairs: [number, number][]) => {
    const bytes = Buffer.alloc(pairs.length * 16);
    for (const [at, [key, value]] of pairs.entries()) {
      bytes.writeBigUInt64LE(BigInt(key), at * 16);
      bytes.writeBigUInt64LE(BigInt(value), at * 16 + 8);
    }
    return bytes;
  };
  const large = auxv([
    [16, 1],
    [6, 65_536],
    [0, 0],
  ]);
  expect(pageCheck(large)).toMatchObject([{ state: "error", found: "pages of memory have 65536 bytes" }]);
  expect(pageCheck(await readFile("/proc/self/auxv"))).toEqual([]);
  const limitedTo = (soft: number | "unlimited") =>
    addressSpaceCheck(`Limit  Soft Limit  Hard Limit  Units\nMax address space         ${soft}  unlimited  bytes\n`);
  expect(limitedTo(4 * 2 ** 30)).toMatchObject([{ state: "error", found: expect.stringContaining("4 GiB") }]);
  expect(limitedTo(16 * 2 ** 30)).toMatchObject([{ state: "note", found: expect.stringContaining("3 instances") }]);
  expect(limitedTo(2 ** 40)).toEqual([]);
  expect(limitedTo("unlimited")).toEqual([]);
  expect(addressSpaceCheck(undefined)).toEqual([]);
});

test("the cache folder is made, measured, and refused where others may write to it", async () => {
  const own = join(folder, "a/cache");
  expect(await cacheCheck(own)).toMatchObject({ state: "ok", found: expect.stringContaining(`${own} is yours alone`) });
  await writeFile(join(own, "code"), "x".repeat(3000));
  expect((await cacheCheck(own)).found).toContain("2.9 KiB");
  const shared = join(folder, "shared");
  await mkdir(shared);
  await chmod(shared, 0o777);
  for (const each of [shared, join(shared, "below")]) {
    const { state, found, todo } = await cacheCheck(each);
    expect(state).toBe("error");
    expect(found).toContain("others may write to it");
    expect(todo).toContain("TENON_CACHE_DIR");
  }
});

test("a port is free, or taken, or cannot be listened on", async () => {
  const server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  expect(await portCheck("port", "127.0.0.1", port, "do this")).toMatchObject({ state: "note", todo: "do this" });
  await new Promise((resolve) => server.close(resolve));
  expect(await portCheck("port", "127.0.0.1", port, "")).toEqual({
    name: "port",
    state: "ok",
    found: `127.0.0.1:${port} is free`,
  });
  expect(await portCheck("port", "192.0.2.1", 3000, "do this")).toMatchObject({ state: "error", todo: "do this" });
});

test("a project has a handler and the SDK of this version", async () => {
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "shop"\n');
  const checks = async () => projectChecks(await requireProject(folder)).map(({ name, state }) => [name, state]);
  expect(await checks()).toEqual([
    ["project", "ok"],
    ["handler", "error"],
    ["SDK", "error"],
  ]);
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "src/handler.ts"), "");
  const sdk = join(folder, "node_modules/@tenon/sdk");
  await mkdir(sdk, { recursive: true });
  await writeFile(join(sdk, "package.json"), JSON.stringify({ version }));
  expect(await checks()).toEqual([
    ["project", "ok"],
    ["SDK", "ok"],
  ]);
  await writeFile(join(sdk, "package.json"), '{ "version": "0.0.1" }');
  expect(projectChecks(await requireProject(folder)).at(-1)).toMatchObject({
    state: "error",
    todo: `npm install @tenon/sdk@${version}`,
  });
});
