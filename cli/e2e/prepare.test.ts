/** The engine's preparation, which the first build of a version waits for: in a cache folder that is empty. */
import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "./http.ts";
import { helloProject, root, startTenon, tenon } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "prepare-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A build that has begun, in a project of its own. */
function begin(project: string): { child: ChildProcess; said: () => string; ended: Promise<number | null> } {
  const env = { ...process.env, TENON_CACHE_DIR: join(folder, "cache") };
  const child = spawn(process.execPath, [tenon, "build"], { cwd: project, env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr?.on("data", (data) => {
    said += data;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, said: () => said, ended };
}

async function project(name: string): Promise<string> {
  const at = join(folder, name);
  for (const part of ["src", "tenon.toml"]) await cp(join(helloProject, part), join(at, part), { recursive: true });
  return at;
}

test("one that is killed, and two at once after it, leave nothing broken", { timeout: 600_000 }, async () => {
  const [first, second] = [await project("first"), await project("second")];
  const killed = begin(first);
  // The engine is compiled after the bundle is made.
  killed.child.stderr?.on("data", () => {
    if (killed.said().includes("Bundle")) killed.child.kill("SIGKILL");
  });
  expect(await killed.ended).toBeNull();
  expect(killed.said()).not.toContain("Componentize");

  const both = [begin(first), begin(second)];
  for (const { ended, said } of both) expect(await ended, said()).toBe(0);
  // Whatever they wrote over each other is whole: the next build finds it and prepares nothing.
  const third = begin(second);
  expect(await third.ended, third.said()).toBe(0);
  expect(third.said()).not.toContain("Prepare");
  expect(await readdir(join(folder, "cache", "engines"))).not.toEqual([]);
  for (const at of [first, second]) {
    const running = await startTenon([join(at, "dist/hello.wasm")], "hello");
    const answer = await send(running.base, { path: "/run/hello/health" }).finally(running.stop);
    expect(answer.json()).toEqual({ status: "ok" });
  }
});
