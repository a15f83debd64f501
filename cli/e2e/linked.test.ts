/** WebAssembly modules that a handler imports: their functions and memories, and nothing of them in the next request. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { componentEmbed, componentNew, parse, preview1AdapterReactorPath } from "@bytecodealliance/jco";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProgram } from "../../testing/programs.ts";
import { Runtime } from "../src/embed/runtime.ts";
import { root, startJco, startWasmtime, tenon } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  folder = await mkdtemp(join(root, "cli/e2e/.tenon/linked-"));
  await cp(join(root, "cli/e2e/fixtures/linked"), folder, { recursive: true });
  for (const name of ["counter", "other"]) await assemble(name);
  await assembleComponent("values");
  await assembleComponent("random");
  const { status, stderr } = build(folder, "-rc");
  expect(stderr).not.toContain("warning");
  expect(status, stderr).toBe(0);
});
afterAll(() => rm(folder, { recursive: true }));

const assemble = async (name: string) =>
  writeFile(
    join(folder, `src/${name}.wasm`),
    await parse(await readFile(join(root, `cli/e2e/fixtures/linked/src/${name}.wat`), "utf8")),
  );

/** Makes a component of a module in the text format and its interface. */
async function assembleComponent(name: string): Promise<void> {
  const source = (ending: string) => readFile(join(root, "cli/e2e/fixtures/linked/src", `${name}.${ending}`), "utf8");
  const binary = await parse(await source("wat"));
  const embedded = await componentEmbed({ binary, witSource: await source("wit"), world: name });
  const adapter = await readFile(preview1AdapterReactorPath());
  const component = await componentNew(embedded, [["wasi_snapshot_preview1", adapter]]);
  await writeFile(join(folder, `src/${name}.wasm`), component);
}

const build = (cwd: string, ...options: string[]) =>
  spawnSync(process.execPath, [tenon, "build", ...options], { cwd, encoding: "utf8" });

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

type Ask = (path: string, init?: RequestInit) => Promise<Answer>;

const asking =
  (fetch: (url: string, init?: RequestInit) => Promise<Response>, base: string): Ask =>
  async (path, init) => {
    const response = await fetch(base + path, init);
    return { status: response.status, body: await response.json() };
  };

async function running(component: string, isolation: "request" | "shared" = "request"): Promise<[Runtime, Ask]> {
  const modules = { linked: join(folder, "dist", component) };
  const runtime = await Runtime.create({ modules, isolation, requestTimeoutMs: 2_000 });
  return [runtime, asking((url, init) => runtime.fetch(url, init), "http://tenon.test/run/linked")];
}

/** The state of a fresh instance that has counted one request. */
const fresh = { memory: 0, global: 0, table: 0, count: 1, calls: 1 };

/** Functions convert numbers as the WebAssembly JavaScript API does. */
async function computes(ask: Ask): Promise<void> {
  expect((await ask("/add?value=41")).body).toEqual({ sum: 42 });
  // Numbers wrap as 32 bits.
  expect((await ask("/add?value=2147483647")).body).toEqual({ sum: -(2 ** 31) });
  expect((await ask("/wide")).body).toEqual({
    big: String(-(2n ** 63n)),
    single: 1.5,
    double: Math.PI,
    refused: "TypeError",
    nothing: true,
  });
  expect((await ask("/range?offset=8&length=8")).body).toEqual({ text: "constant" });
}

/** Values go in and out of a component as jco has them. */
async function converts(ask: Ask): Promise<void> {
  expect((await ask("/values")).body).toEqual({
    greeting: "Hello, wörld",
    all: "equal",
    bits: ['[0,"3217031168n"]', '[2,"18446744073709551615n"]', '[3,"0n"]'],
    shapes: ['{"tag":"circle","val":-1.5}', '{"tag":"count","val":"9223372036854775808n"}', '{"tag":"nothing"}'],
    inverted: { canRead: true, canWrite: false, run: true },
    next: ["dark-blue", "red"],
    letter: "😀",
    odd: [true, false],
    wrapped: [0.5],
    sum: '"153n"',
    signs: '[-128,-32768,-1,"-1n"]',
    divided: 3,
    failed: "Error: division by zero payload division by zero",
    required: true,
    refused: "Error: dark-blue payload dark-blue",
    depths: [0, 1, 2],
    nothing: true,
    wrong: [
      expect.stringContaining("TypeError"),
      expect.stringContaining('TypeError: "green" is none of red, dark-blue'),
      expect.stringContaining("TypeError: 1 is not a string"),
      expect.stringContaining("TypeError"),
    ],
  });
  expect((await ask("/long")).body).toEqual({ equal: true });
  expect((await ask("/random")).body).toEqual({ differ: true });
}

/** A memory starts small in each request, and has an end. */
async function measures(ask: Ask): Promise<void> {
  for (const size of [0, 1, 100_000, 1_000_000]) {
    const body = new Uint8Array(size).map((_, index) => index * 7);
    const { body: sent } = await ask("/bytes", { method: "POST", body: size === 0 ? null : body });
    const grown = Math.max(2, Math.ceil(size / 65_536));
    expect(sent).toEqual({ size: grown * 65_536, equal: true, length: size });
  }
  expect((await ask("/range?offset=131072&length=0")).body).toEqual({ text: "" });
  for (const [offset, length] of [
    [131_073, 0],
    [131_072, 1],
    [-1, 1],
    [0.5, 1],
    [0, -1],
    [0, 1e12],
    [2 ** 32 + 8, 8],
  ]) {
    const { body } = await ask(`/range?offset=${offset}&length=${length}`);
    expect(body, `${offset} ${length}`).toMatchObject({ error: expect.stringContaining("RangeError") });
  }
  expect((await ask("/grow?value=3")).body).toEqual({ before: 2, size: 5 * 65_536 });
  expect((await ask("/grow?value=19")).body).toMatchObject({ error: expect.stringContaining("RangeError") });
  expect((await ask("/grow?value=-1")).body).toMatchObject({ error: expect.stringContaining("RangeError") });
}

/** Each request finds a module in its first state, however the request before has ended. */
async function isolates(ask: Ask): Promise<void> {
  expect((await ask("/keep?value=7")).body).toEqual({ memory: 7, global: 7, table: 1, count: 1, calls: 1 });
  expect((await ask("/kept")).body).toEqual(fresh);
  for (const way of ["trap", "component-trap", "deep", "spin"]) {
    expect((await ask(`/${way}?value=7`)).status, way).toBeGreaterThanOrEqual(500);
    expect((await ask("/kept")).body, way).toEqual(fresh);
  }
  await Promise.all(Array.from({ length: 20 }, (_, value) => ask(`/keep?value=${value + 1}`)));
  for (let time = 0; time < 20; time++) expect((await ask("/kept")).body).toEqual(fresh);
  await ask("/grow?value=5");
  expect((await ask("/grow?value=1")).body).toMatchObject({ before: 2 });
}

describe.each(["linked.wasm", "linked-composed.wasm"])("%s", (component) => {
  test("functions and memories", async () => {
    const [runtime, ask] = await running(component);
    await computes(ask);
    await measures(ask);
    await runtime.close();
  });

  test("values of a component", async () => {
    const [runtime, ask] = await running(component);
    await converts(ask);
    await runtime.close();
  });

  test("nothing of a module is left for the next request", async () => {
    const [runtime, ask] = await running(component);
    await isolates(ask);
    await runtime.close();
  });

  test("a shared instance shows what the test above looks for, and a trap still drops it", async () => {
    const [runtime, ask] = await running(component, "shared");
    await ask("/keep?value=7");
    expect((await ask("/kept")).body).toEqual({ memory: 7, global: 7, table: 1, count: 2, calls: 2 });
    expect((await ask("/trap?value=8")).status).toBe(500);
    expect((await ask("/kept")).body).toEqual(fresh);
    await runtime.close();
  });
});

test("a call at top level ends the build, with its place", async () => {
  const at = join(folder, "top-level");
  await mkdir(join(at, "src"), { recursive: true });
  await cp(join(folder, "src/counter.wasm"), join(at, "src/counter.wasm"));
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "top-level"\n');
  const source = `import { get, ok, routes } from "@tenon/sdk";
import { add } from "./counter.wasm";
const sum = add(1, 2);
export default routes({ sum: get("/", () => ok({ sum })) });
`;
  await writeFile(join(at, "src/handler.ts"), source);
  const { status, stderr } = build(at);
  expect(status).toBe(1);
  expect(stderr).toMatch(/src\/handler\.ts:3:13: .*a WebAssembly module works in a handler, not at top level/);
  expect(build(folder, "--reference").stderr).toContain("componentize-js cannot link WebAssembly");
});

test.skipIf(findProgram("wasmtime") === undefined)("wasmtime serve", async () => {
  const server = await startWasmtime(join(folder, "dist/linked-composed.wasm"));
  await computes(asking(fetch, server.base));
  await converts(asking(fetch, server.base));
  await measures(asking(fetch, server.base));
  expect((await asking(fetch, server.base)("/keep?value=7")).body).toMatchObject({ memory: 7 });
  expect((await asking(fetch, server.base)("/kept")).body).toEqual(fresh);
  await server.stop();
});

test("jco serve", async () => {
  const server = await startJco(join(folder, "dist/linked-composed.wasm"));
  await computes(asking(fetch, server.base));
  await converts(asking(fetch, server.base));
  await server.stop();
});
