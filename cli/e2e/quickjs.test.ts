/** Components with the QuickJS engine: builds, and answers in both isolations and on another server. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import type { ProgramName } from "../../testing/programs.ts";
import { type Exchange, send } from "./http.ts";
import { quickjsProject, type Running, root, startTenon, startWasmtime, tenon } from "./servers.ts";

const build = (cwd: string, ...options: string[]) =>
  spawnSync(process.execPath, [tenon, "build", ...options], { cwd, encoding: "utf8" });

/** A sidecar that answers with the path. */
let sidecar: Server;
let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "quickjs-"));
  const { status, stderr } = build(quickjsProject, "-rc");
  expect(status, stderr).toBe(0);
  sidecar = createServer((request, response) => response.end(`asked for ${request.url}`));
  await new Promise<void>((done) => sidecar.listen(0, "127.0.0.1", done));
}, 120_000);
afterAll(async () => {
  sidecar?.close();
  await rm(folder, { recursive: true });
});

const address = () => `http://127.0.0.1:${(sidecar.address() as AddressInfo).port}`;
const component = (name: string) => join(quickjsProject, "dist", `${name}.wasm`);

interface Served {
  readonly name: string;
  readonly shares: boolean;
  readonly needs?: ProgramName;
  start(): Promise<Running>;
}

const onTenon = async (isolation: string, file: string) => {
  const settings = `[project]\nname = "quickjs"\n[server]\nisolation = "${isolation}"\n[sidecars]\ndb = "${address()}"\n`;
  await writeFile(join(folder, "tenon.toml"), settings);
  return startTenon([component(file)], "quickjs", folder);
};

const served: readonly Served[] = [
  { name: "tenon run, an instance each", shares: false, start: () => onTenon("request", "quickjs") },
  { name: "tenon run, composed", shares: false, start: () => onTenon("request", "quickjs-composed") },
  { name: "tenon run, shared instances", shares: true, start: () => onTenon("shared", "quickjs") },
  {
    name: "wasmtime serve",
    shares: false,
    needs: "wasmtime",
    start: () => startWasmtime(component("quickjs-composed"), { SIDECAR_DB_URL: address() }),
  },
];

describeEach("$name", served, ({ start, shares }) => {
  let server: Running;
  beforeAll(async () => {
    server = await start();
  }, 60_000);
  afterAll(() => server?.stop());

  const ask = (exchange: Exchange) =>
    send(server.base, { ...exchange, path: new URL(server.base).pathname.replace(/\/$/, "") + exchange.path });

  test("routes, bodies and problems", async () => {
    expect((await ask({ path: "/hello/Ad%C3%A4" })).json()).toEqual({ greeting: "Hello, Adä!" });
    const post = (body: object) =>
      ask({
        path: "/users",
        method: "POST",
        headers: [["content-type", "application/json"]],
        body: JSON.stringify(body),
      });
    const made = await post({ name: "Ada", age: 36 });
    expect([made.status, made.header("location"), made.json()]).toEqual([201, "/users/1", { name: "Ada", age: 36 }]);
    const refused = await post({ name: "Ada".repeat(9), age: -1 });
    expect([refused.status, refused.header("content-type")]).toEqual([400, "application/problem+json"]);
    expect((await ask({ path: "/none" })).status).toBe(404);
    expect((await ask({ path: "/fail" })).status).toBe(500);
  });

  test("a request finds a fresh instance, unless they are shared", async () => {
    const counts = [];
    for (let index = 0; index < 3; index++) counts.push((await ask({ path: "/count" })).json());
    const [first, second, third] = counts as { requests: number }[];
    if (!shares) expect([first, second, third]).toEqual([{ requests: 1 }, { requests: 1 }, { requests: 1 }]);
    else expect([second?.requests, third?.requests]).toEqual([2, 3]);
  });

  test("time and random values are those of the request", async () => {
    const answers = [];
    for (let index = 0; index < 2; index++) answers.push((await ask({ path: "/random" })).json());
    const [first, second] = answers as { value: number; since: number }[];
    expect(first?.value).not.toBe(second?.value);
    expect(first?.since).toBeGreaterThan(0);
  });

  test("calls, timers and streams", async () => {
    expect((await ask({ path: "/sidecar" })).json()).toEqual({ text: "asked for /a" });
    expect((await ask({ path: "/slow" })).json()).toEqual({ slow: true });
    expect((await ask({ path: "/pieces" })).body.toString()).toBe("abc");
  });
});

describe("a build that fails", () => {
  test.each([
    [
      "throws",
      "interface A {\n  b: number;\n}\nconst fail = (a: A): number => {\n  throw new RangeError('no ' + a.b);\n};\nfail({ b: 1 });",
      /src\/handler\.ts:6:\d+: the module's top level failed: RangeError: no 1\n/,
    ],
    [
      "rejects",
      "void Promise.reject(new Error('nobody listens'));",
      /src\/handler\.ts:2:\d+: the module's top level failed: it rejects a promise that nobody handles: Error: nobody listens\n/,
    ],
    ["waits", "await new Promise(() => {});", "the module's top level failed: it waits for something that never comes"],
    ["random", "Math.random();", "random values work in a handler, not at top level"],
    ["imports", 'import { print } from "tenon:engine";\nprint("");', '"tenon:engine" must not be imported'],
    ["loops", "const all: string[] = [];\nfor (;;) all.push('x'.repeat(1e6) + all.length);", "MiB of memory"],
  ])("%s", async (name, statements, expected) => {
    const at = join(folder, name);
    await mkdir(join(at, "src"), { recursive: true });
    await writeFile(join(at, "tenon.toml"), `[project]\nname = "${name}"\nengine = "quickjs"\n`);
    const source = `import { get, ok, routes } from "@tenon/sdk";\n${statements}\nexport default routes({ it: get("/", () => ok({})) });\n`;
    await writeFile(join(at, "src/handler.ts"), source);
    const { status, stderr } = build(at);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(expected);
  });
});
