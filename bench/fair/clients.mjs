// Clients of one URL, which wait for a second after each refusal as `Retry-After` asks. Started by run.mjs:
//   node clients.mjs <url> <count> <seconds> [pause in ms between the requests of one client]
// Prints the number of answers by status, and their latencies in milliseconds, as JSON. SIGTERM ends it early.
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const [url, count, seconds, pause = "0"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(count) });
const latencies = new Map();
const ends = performance.now() + Number(seconds) * 1000;

/** Resolves to the status of an answer, or to 0 when there is none. */
function ask() {
  return new Promise((resolve) => {
    const asked = request(url, { agent }, (answer) => {
      answer.resume();
      answer.once("end", () => resolve(answer.statusCode));
      answer.once("error", () => resolve(0));
    });
    asked.once("error", () => resolve(0));
    asked.end();
  });
}

async function client() {
  while (performance.now() < ends) {
    const began = performance.now();
    const status = await ask();
    if (!latencies.has(status)) latencies.set(status, []);
    latencies.get(status).push(performance.now() - began);
    const wait = status === 200 ? Number(pause) : 1000;
    if (wait > 0) await sleep(wait);
  }
}

function report() {
  const answers = {};
  for (const [status, all] of latencies) {
    all.sort((a, b) => a - b);
    const at = (part) => all[Math.min(all.length - 1, Math.floor(all.length * part))];
    answers[status] = { count: all.length, p50: at(0.5), p99: at(0.99), max: at(1) };
  }
  process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit());
}

process.once("SIGTERM", report);
setTimeout(report, Number(seconds) * 1000);
// Not all in one tick, so that connecting does not affect the measurement.
for (let i = 0; i < Number(count); i++) {
  void client();
  if (i % 100 === 99) await sleep(10);
}
