import { expect, test } from "vitest";
import { Latest } from "./latest.ts";

/** A task whose runs end on command. */
function controlled() {
  const runs: { end(): void; fail(): void }[] = [];
  const latest = new Latest(
    () => new Promise<void>((resolve, reject) => runs.push({ end: resolve, fail: () => reject(new Error("no")) })),
  );
  return { runs, latest };
}

test("what is asked for during a run is one run more", async () => {
  const { runs, latest } = controlled();
  const first = latest.request();
  const later = [latest.request(), latest.request(), latest.request()];
  expect(runs).toHaveLength(1);
  runs[0]?.end();
  await first;
  await expect.poll(() => runs.length).toBe(2);
  runs[1]?.end();
  await Promise.all(later);
  expect(runs).toHaveLength(2);
});

test("a failure is told to those who asked, and the next run begins all the same", async () => {
  const { runs, latest } = controlled();
  const first = latest.request();
  const second = latest.request();
  runs[0]?.fail();
  await expect(first).rejects.toThrow("no");
  await expect.poll(() => runs.length).toBe(2);
  const third = latest.request();
  runs[1]?.end();
  await second;
  await expect.poll(() => runs.length).toBe(3);
  runs[2]?.end();
  await third;
});

test("asked again later, it runs again", async () => {
  let count = 0;
  const latest = new Latest(async () => {
    count += 1;
  });
  await latest.request();
  await latest.request();
  expect(count).toBe(2);
});
