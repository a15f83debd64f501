import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { packageFolder } from "../package.ts";
import { strip } from "./strip.ts";

/** A source that the parser tries in two ways at each level. */
const slow = (name: string) => `${"<a>(".repeat(25)}${name}${")".repeat(25)}`;

test("a source is stripped once for all that wait for it", async () => {
  const source = `${"let a: number;".replace("a", "once")}${" ".repeat(10_000)}`;
  const all = await Promise.all(Array.from({ length: 20 }, () => strip(source)));
  expect(all.filter(({ cpuUs }) => cpuUs > 0)).toHaveLength(1);
  expect(strip(source)).toMatchObject({ code: expect.stringContaining("let once"), cpuUs: 0 });
});

test("as many results are kept as before, however often sources were stripped at once", async () => {
  for (let round = 0; round < 20; round++) {
    const source = `${round};${"1;".repeat(50_000)}`;
    await Promise.all(Array.from({ length: 20 }, () => strip(source)));
    expect(strip(source)).not.toBeInstanceOf(Promise);
  }
}, 60_000);

test("a source that takes too long is refused, counted, and parsed again the next time", async () => {
  const refused = await strip(slow("first"));
  expect(refused).toMatchObject({ error: { message: "the source takes too long to parse" } });
  expect(refused.cpuUs).toBeGreaterThanOrEqual(250_000);
  expect(strip(slow("first"), {}, Number.POSITIVE_INFINITY, () => true)).toBeInstanceOf(Promise);
}, 30_000);

test("a budget that is spent ends the parser, and the next source is parsed", async () => {
  const spent = await strip(slow("budget"), {}, 20_000);
  expect(spent).toMatchObject({ isSpent: true });
  expect(spent.cpuUs).toBeGreaterThanOrEqual(20_000);
  const next = await strip("let next: number", {}, 20_000);
  expect(next).toMatchObject({ code: expect.stringContaining("let next") });
  expect(next.cpuUs).toBeGreaterThan(0);
}, 30_000);

test("a source for which nobody waits any more is not parsed", async () => {
  const first = strip(slow("running"));
  const began = performance.now();
  for (let index = 0; index < 20; index++)
    void strip(slow(`abandoned${index}`), {}, Number.POSITIVE_INFINITY, () => true);
  const last = strip("let wanted: number");
  await first;
  expect(await last).toMatchObject({ code: expect.stringContaining("let wanted") });
  expect(performance.now() - began).toBeLessThan(20_000);
}, 60_000);

test("sources of different owners take turns", async () => {
  const [hostile, other] = [{}, {}];
  let refused = 0;
  const all = Array.from({ length: 5 }, async (_, index) => {
    await strip(slow(`hostile${index}`), hostile);
    refused++;
  });
  expect(await strip("let other: number", other)).toMatchObject({ code: expect.stringContaining("let other") });
  // The one that was there before, and one more.
  expect(refused).toBeLessThanOrEqual(2);
  await Promise.all(all);
}, 60_000);

test("a source whose parser starts while the event loop is busy is charged for its parsing alone", async () => {
  // The parser is ended, and starts again with the next source.
  expect(await strip(slow("ended"), {}, 20_000)).toMatchObject({ isSpent: true });
  const stripped = strip("let patient: number", {}, 50_000);
  await new Promise((resolve) => setImmediate(resolve));
  for (const ends = performance.now() + 1_500; performance.now() < ends; );
  expect(await stripped).toMatchObject({ code: expect.stringContaining("let patient") });
}, 30_000);

describe("where processor time of threads is not counted", () => {
  const folder = mkdtempSync(join(tmpdir(), "tenon-strip-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const module = pathToFileURL(join(packageFolder, "dist/sandbox/strip.js")).href;
  const program = `const { strip } = await import(${JSON.stringify(module)});
const ended = await strip(${JSON.stringify(slow("ended"))}, {}, 20_000);
const stripped = strip("let a: number", {}, 50_000);
await new Promise((resolve) => setImmediate(resolve));
for (const ends = performance.now() + 1_500; performance.now() < ends; );
console.log(JSON.stringify([ended, await stripped]));`;

  test.each([
    ["no file", 'throw new Error("ENOENT")'],
    ["a file with zeros", 'return "0 0 0"'],
  ])(
    "as with %s, time counts",
    (name, answer) => {
      // The options of the environment reach the parser's thread as well.
      const preload = join(folder, `${name.replaceAll(" ", "-")}.cjs`);
      const replaced = `(path, ...more) => { if (String(path).endsWith("/schedstat")) { ${answer} } return read(path, ...more); }`;
      writeFileSync(
        preload,
        `const fs = require("node:fs"); const read = fs.readFileSync; fs.readFileSync = ${replaced};
require("node:module").syncBuiltinESMExports();`,
      );
      const env = { ...process.env, NODE_OPTIONS: `--require=${preload}` };
      const args = ["--input-type=module", "-e", program];
      const [ended, stripped] = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", env }));
      expect(ended).toMatchObject({ isSpent: true });
      expect(ended.cpuUs).toBeGreaterThanOrEqual(20_000);
      expect(stripped).toMatchObject({ code: "let a        " });
      expect(stripped.cpuUs).toBeGreaterThan(0);
    },
    30_000,
  );
});
