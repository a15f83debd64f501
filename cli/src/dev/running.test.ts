import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { othersRunning, RunningSign } from "./running.ts";

let folder: string;
let sign: RunningSign;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-running-"));
  sign = await RunningSign.up(folder);
});
afterEach(() => rm(folder, { recursive: true }));

const fileOf = (pid: number) => join(folder, ".tenon/running", String(pid));

test("it has the address while the services are there, and goes at the end", async () => {
  expect(await readFile(fileOf(process.pid), "utf8")).toBe("");
  await sign.name("http://127.0.0.1:9920");
  expect(await readFile(fileOf(process.pid), "utf8")).toBe("http://127.0.0.1:9920");
  await sign.close();
  expect(existsSync(fileOf(process.pid))).toBe(false);
});

test("others are those that start and those whose services answer, and not the process itself", async () => {
  const server: Server = createServer((_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  expect(await othersRunning(folder)).toEqual([]);
  for (const services of ["", `http://127.0.0.1:${port}`]) {
    await writeFile(fileOf(process.ppid), services);
    expect(await othersRunning(folder)).toEqual([process.ppid]);
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  // The process id of a killed one may belong to another program by now.
  expect(await othersRunning(folder)).toEqual([]);
  expect(existsSync(fileOf(process.ppid))).toBe(false);
});

test("what one that was killed has left is removed", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  await writeFile(fileOf(pid), "");
  expect(await othersRunning(folder)).toEqual([]);
  expect(existsSync(fileOf(pid))).toBe(false);
  expect(existsSync(fileOf(process.pid))).toBe(true);
});
