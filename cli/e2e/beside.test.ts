/** One embedded runtime behind Hono's Node server, Express and Fastify, whichever of the four is loaded first. */
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { send } from "./http.ts";
import { helloProject, root } from "./servers.ts";

const hello = join(helloProject, "dist/hello.wasm");
const program = join(root, "cli/e2e/fixtures/beside/main.mjs");
const json = [["content-type", "application/json"]] as const;

/** The program's servers by their names, while `use` runs. */
async function withServers(order: readonly string[], use: (urls: Map<string, string>) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, [program, hello, ...order], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (data) => {
    errors += data;
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  try {
    const printed = new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data))));
    const line = await Promise.race([printed, exited]);
    if (typeof line !== "string") throw new Error(`the program ended with ${line}; it said:\n${errors}`);
    await use(new Map(Object.entries(JSON.parse(line) as Record<string, string>)));
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
  expect([await exited, errors]).toEqual([0, ""]);
}

function permutations(of: readonly string[]): string[][] {
  if (of.length <= 1) return [[...of]];
  return of.flatMap((first) => permutations(of.filter((each) => each !== first)).map((rest) => [first, ...rest]));
}

const orders = [
  ...permutations(["tenon", "hono", "express", "fastify"]),
  // The first request is answered before the globals are replaced.
  ["tenon", "fetch", "hono", "express", "fastify"],
  ["express", "tenon", "fetch", "fastify", "hono"],
];

describe.concurrent("beside other servers", () => {
  test.each(orders.map((order) => [order.join(", "), order] as const))("%s", async (_, order) => {
    await withServers(order, async (urls) => {
      expect([...urls.keys()].sort()).toEqual(["express", "fastify", "hono"]);
      for (const [server, url] of urls) {
        const own = await send(url, { method: "POST", path: "/own", headers: json, body: '{"its":"own"}' });
        expect([own.status, own.json()], server).toEqual([201, { its: "own" }]);

        const got = await send(url, { path: "/run/hello/hello/Ada" });
        expect([got.status, got.json()], server).toEqual([200, { greeting: "Hello, Ada!" }]);
        expect(got.header("x-served-by"), server).toBe(server);
        expect(got.header("content-type"), server).toMatch(/^application\/json/);
        expect(got.header("x-request-id"), server).toMatch(/^[0-9a-f]{32}$/);

        const added = await send(url, {
          method: "POST",
          path: "/run/hello/users",
          headers: json,
          body: '{"name":"Ada"}',
        });
        expect([added.status, added.json()], server).toEqual([201, expect.objectContaining({ name: "Ada" })]);
        const refused = await send(url, {
          method: "POST",
          path: "/run/hello/users",
          headers: json,
          body: '{"name":""}',
        });
        expect([refused.status, refused.json()], server).toEqual([400, expect.objectContaining({ status: 400 })]);
        const headed = await send(url, { method: "HEAD", path: "/run/hello/hello/Ada" });
        expect([headed.status, headed.body.length], server).toEqual([200, 0]);
      }
    });
  });
});

test("a class that took the place of Response before Node loaded its own stays there", () => {
  const source = `import { Runtime } from "tenon";
    class Mine {}
    globalThis.Response = Mine;
    const runtime = await Runtime.create({ modules: [], logLevel: "off" });
    const answer = await runtime.fetch("http://localhost/health");
    await answer.text();
    console.log(JSON.stringify([answer.status, answer.constructor === Mine, Response === Mine]));
    await runtime.close();`;
  const args = ["--input-type=module", "-e", source];
  const printed = execFileSync(process.execPath, args, { cwd: join(root, "cli"), encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual([200, false, true]);
});
