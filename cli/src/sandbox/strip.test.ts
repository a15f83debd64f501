import { expect, test } from "vitest";
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
