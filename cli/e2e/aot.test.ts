/** `tenon build --aot`: handlers that compute, and the errors when it is not possible. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWith } from "../../testing/needs.ts";
import { send } from "./http.ts";
import { root, startTenon, tenon } from "./servers.ts";

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "aot-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function project(name: string, handler: string): Promise<string> {
  const at = join(folder, name);
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "made"\n');
  await writeFile(join(at, "src/handler.ts"), handler);
  return at;
}

function build(cwd: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [tenon, "build", ...args], { cwd, env, encoding: "utf8" });
}

/** Something of everything that weval specializes: loops, calls, closures, exceptions, generators, numbers of both kinds. */
const computing = `import { field, get, ok, Path, routes } from "@tenon/sdk";

function* primes(below: number) {
  const sieve = new Uint8Array(below);
  for (let n = 2; n < below; n++) {
    if (sieve[n]) continue;
    yield n;
    for (let m = n * n; m < below; m += n) sieve[m] = 1;
  }
}
const fibonacci = (n: number): number => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
function mandelbrot(size: number): number {
  let inside = 0;
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      let [a, b, steps] = [0, 0, 0];
      const [p, q] = [(x / size) * 3 - 2, (y / size) * 2 - 1];
      while (a * a + b * b < 4 && steps++ < 50) [a, b] = [a * a - b * b + p, 2 * a * b + q];
      if (steps > 50) inside++;
    }
  return inside;
}
function thrown(times: number): number {
  let caught = 0;
  for (let i = 0; i < times; i++) {
    try {
      if (i % 3 === 0) throw new RangeError(String(i));
    } catch (error) {
      caught += Number((error as Error).message);
    } finally {
      caught++;
    }
  }
  return caught;
}
class Counter {
  #counts = new Map<string, number>();
  count(word: string) {
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }
  get sorted() {
    return [...this.#counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  }
}
const table = Array.from({ length: 256 }, (_, index) => index ^ 0x5a);

export default routes({
  it: get("/{size}", { path: Path("Size", { size: field.u32() }) }, async ({ path: { size } }) => {
    const counter = new Counter();
    for (const word of "the cat and the dog and the bird".split(/\\s/)) counter.count(word);
    const later = await Promise.all([1, 2, 3].map(async (n) => n ** 2));
    return ok({
      primes: [...primes(size)].length,
      fibonacci: fibonacci(15),
      mandelbrot: mandelbrot(size >> 4),
      thrown: thrown(size),
      words: counter.sorted,
      later,
      mixed: table.reduce((sum, value, index) => (sum * 31 + value * index) >>> 0, size),
      big: String(2n ** 80n + BigInt(size)),
    });
  }),
});
`;

describeWith("weval", "with weval", () => {
  test("a handler that computes gives the same answers, and its component is the same each time", {
    timeout: 600_000,
  }, async () => {
    const [plain, first, second] = [
      await project("plain", computing),
      await project("first", computing),
      await project("second", computing),
    ];
    const epoch = { SOURCE_DATE_EPOCH: "1700000000" };
    for (const [at, args] of [
      [plain, ["-r"]],
      [first, ["-r", "--aot"]],
      [second, ["-rc", "--aot"]],
    ] as const) {
      const { status, stderr } = build(at, args, epoch);
      expect(status, stderr).toBe(0);
    }
    const component = (at: string) => readFile(join(at, "dist/made.wasm"));
    expect((await component(first)).equals(await component(second))).toBe(true);

    const answers = async (file: string) => {
      const running = await startTenon([file], "made");
      const sizes = [0, 1, 500, 1000];
      const all = await Promise.all(sizes.map((size) => send(running.base, { path: `/run/made/${size}` })));
      await running.stop();
      return all.map(({ status, body }) => ({ status, body: body.toString() }));
    };
    const expected = await answers(join(plain, "dist/made.wasm"));
    expect(expected.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await answers(join(first, "dist/made.wasm"))).toEqual(expected);
    expect(await answers(join(second, "dist/made-composed.wasm"))).toEqual(expected);
  });

  test("an exception at top level is shown where it is in the TypeScript", async () => {
    const at = await project(
      "throws",
      "const limit: number = 5;\n\nif (limit > 3) throw new Error('too much');\nexport default limit;\n",
    );
    const { status, stderr } = build(at, ["-r", "--aot"]);
    expect(stderr).toMatch(/src\/handler\.ts:3:\d+: the module's top level failed: .*too much/);
    expect(status).toBe(1);
  });
});

describe("what cannot be done", () => {
  test.each([
    [["--aot"], "option '--aot' is for releases: tenon build -r --aot"],
    [["-r", "--aot", "--reference"], "option '--reference' cannot be used with option '--aot'"],
  ])("wrong usage: %j", async (args, message) => {
    const { status, stderr } = build(await project("usage", computing), args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  test("without weval, and with another one", async () => {
    const at = await project("missing", computing);
    const missing = build(at, ["-r", "--aot"], { TENON_WEVAL: join(folder, "nowhere/weval") });
    expect(missing.stderr).toContain("--aot needs weval, and TENON_WEVAL,");
    expect(missing.stderr).toContain("hint: install it with `cargo install weval --locked --version 0.5.1`");
    expect(missing.status).toBe(1);
    const unset = build(at, ["-r", "--aot"], { TENON_WEVAL: "", PATH: folder });
    expect(unset.stderr).toContain("there is no weval on the path");

    const other = join(folder, "other-weval");
    await writeFile(other, "#!/bin/sh\necho weval 0.2.7\n", { mode: 0o755 });
    const { status, stderr } = build(at, ["-r", "--aot"], { TENON_WEVAL: other });
    expect(stderr).toContain(`--aot needs weval 0.5, and ${other} is weval 0.2.7`);
    expect(status).toBe(1);
  });

  test("a weval that fails", async () => {
    const at = await project("fails", computing);
    const broken = join(folder, "broken-weval");
    await writeFile(
      broken,
      '#!/bin/sh\nif [ "$1" = --version ]; then echo weval 0.5.9; else echo "no such luck" >&2; exit 1; fi\n',
      { mode: 0o755 },
    );
    const { status, stderr } = build(at, ["-r", "--aot"], { TENON_WEVAL: broken });
    expect(stderr).toContain("weval failed: no such luck");
    expect(status).toBe(1);
  });
});
