/** A newcomer's first minutes: the packages as npm would deliver them, in an empty folder outside the repository. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "./http.ts";
import { root } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-newcomer-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a command as a newcomer has it: no environment of this test's runner. */
function run(command: string, args: string[], cwd: string): string {
  const { PATH, HOME, NODE_EXTRA_CA_CERTS } = process.env;
  const env = { PATH, HOME, NODE_EXTRA_CA_CERTS, TENON_CACHE_DIR: join(folder, "cache") };
  return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

test("new, install, test, build, run", { timeout: 900_000 }, async () => {
  const packed = join(folder, "packed");
  run("mkdir", [packed], folder);
  for (const workspace of ["ts-sdk", "bindings", "cli"]) {
    run("npm", ["pack", "--silent", "--pack-destination", packed], join(root, workspace));
  }
  const tarballs = (await readdir(packed)).map((file) => join(packed, file));
  expect(tarballs).toHaveLength(3);

  const place = join(folder, "place");
  run("mkdir", [place], folder);
  run("npm", ["install", "--no-audit", "--no-fund", ...tarballs], place);
  run("npx", ["tenon", "new", "demo"], place);

  const demo = join(place, "demo");
  run("npm", ["install", "--no-audit", "--no-fund"], demo);
  expect(await stat(join(demo, ".gitignore"))).toBeDefined();
  expect(run("npx", ["vitest", "run"], demo)).toContain("5 passed");
  run("npx", ["tsc", "--noEmit"], demo);
  const built = JSON.parse(run("npx", ["tenon", "build", "-rc", "--json"], demo)) as { composed: { path: string } };
  expect(built.composed.path).toBe("dist/demo-composed.wasm");

  const server = spawn("npx", ["tenon", "run", "--port", "0", "--json"], { cwd: demo, detached: true });
  const line = await new Promise<string>((resolve, reject) => {
    server.stdout.once("data", (data) => resolve(String(data)));
    server.once("exit", (code) => reject(new Error(`tenon run ended with ${code}`)));
  });
  const { url, urls } = JSON.parse(line) as { url: string; urls: string[] };
  expect(urls).toEqual([`${url}/run/demo/`]);
  expect((await send(url, { path: "/run/demo/" })).json()).toEqual({ service: "demo", message: "Welcome" });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  process.kill(-(server.pid ?? 0), "SIGINT");
  await exited;
});
