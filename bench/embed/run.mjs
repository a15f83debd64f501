// Overhead of Runtime.fetch over a call inside the runtime, and the effect of a thousand concurrent calls on Node's
// event loop:
//   npm run build && (cd examples/hello && npx tenon build -r) && node bench/embed/run.mjs
// `fetch` is the time from the call, with a ready request, until its response and the response's text. `inside` is the
// runtime's own measurement of the same calls: from the head of the request to the head of the response. `added` is the
// difference: two crossings between Node's thread and another, and the conversions on both sides. The cost of Node's
// own objects is beside it: making the request, and making and reading a response of the same size.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Runtime } from "../../cli/dist/index.js";
import { conditions, record } from "../results.mjs";

const component = fileURLToPath(new URL("../../examples/hello/dist/hello.wasm", import.meta.url));
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const request = () => new Request("http://x/run/hello/hello/Ada");

/** Measures the time of some work, in µs. */
async function time(work) {
  const began = performance.now();
  await work();
  return (performance.now() - began) * 1000;
}

const rows = [];
for (const isolation of ["request", "shared"]) {
  const runtime = await Runtime.create({ modules: [component], isolation, queueTimeoutMs: 60_000 });
  const [outside, inside, making, reading] = [[], [], [], []];
  const headers = [...(await runtime.fetch(request())).headers];
  const body = await (await runtime.fetch(request())).bytes();
  for (let round = 0; round < 30; round++) {
    // The number that recentRequests keeps.
    for (let i = 0; i < 200; i++) {
      const asked = request();
      outside.push(await time(async () => (await runtime.fetch(asked)).text()));
    }
    inside.push(...runtime.recentRequests().map((each) => each.durationMs * 1000));
  }
  // Separate from the calls, so that its garbage does not count for them.
  for (let i = 0; i < 6000; i++) {
    making.push(await time(request));
    reading.push(await time(() => new Response(body, { status: 200, headers }).text()));
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await Promise.all(Array.from({ length: 1000 }, async () => (await runtime.fetch(request())).text()));
  delay.disable();
  const [whole, part] = [median(outside), median(inside)];
  const figures = [whole, part, whole - part, median(making), median(reading)].map((value) => value.toFixed(0));
  const delays = [delay.percentile(50), delay.percentile(99), delay.max].map((value) => (value / 1e6).toFixed(1));
  rows.push(`| ${isolation} | ${[...figures, ...delays].join(" | ")} |`);
  await runtime.close();
}
record(
  "bench/embed",
  `${conditions}. Medians of 6,000 calls one after another; then 1,000 at once and the event loop's delay meanwhile.

| isolation | fetch µs | inside the runtime µs | added µs | Node: new Request µs | Node: new Response, text µs | delay p50 ms | p99 ms | max ms |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
${rows.join("\n")}`,
);
