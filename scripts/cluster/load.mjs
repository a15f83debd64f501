// Load at a constant rate on one address, half of it on new connections. Forked by run.mjs; each message to it ends a phase, whose
// counts it sends back.
//
//   fork("load.mjs", [<url>, <requests a second>])
import { Agent, get } from "node:http";

const [url, rate] = [process.argv[2], Number(process.argv[3])];
const agents = [new Agent({ keepAlive: true, maxSockets: 32 }), new Agent({ keepAlive: false, maxSockets: 256 })];
/** A request without an answer for this long has failed. */
const TIMEOUT_MS = 10_000;

let phase = begin();
let sent = 0;
const began = performance.now();

function begin() {
  return { sent: 0, open: 0, failed: 0, reasons: {}, times: [] };
}

function send(of) {
  const at = performance.now();
  sent += 1;
  of.sent += 1;
  of.open += 1;
  let isOver = false;
  const end = (reason) => {
    if (isOver) return;
    isOver = true;
    of.open -= 1;
    of.times.push(performance.now() - at);
    if (reason === undefined) return;
    of.failed += 1;
    of.reasons[reason] = (of.reasons[reason] ?? 0) + 1;
  };
  const outgoing = get(url, { agent: agents[sent % agents.length], timeout: TIMEOUT_MS }, (answer) => {
    answer.once("error", (error) => end(`body: ${error.code ?? error.message}`));
    answer.once("end", () => end(answer.statusCode === 200 ? undefined : `status ${answer.statusCode}`));
    answer.resume();
  });
  outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
  outgoing.once("error", (error) => end(error.code ?? error.message));
}

setInterval(() => {
  const due = Math.floor(((performance.now() - began) / 1000) * rate);
  while (sent < due) send(phase);
}, 5);

process.on("message", () => {
  const last = phase;
  phase = begin();
  const waiting = setInterval(() => {
    if (last.open > 0) return;
    clearInterval(waiting);
    const times = last.times.sort((a, b) => a - b);
    const at = (part) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0);
    process.send({
      sent: last.sent,
      failed: last.failed,
      reasons: last.reasons,
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
    });
  }, 10);
});
process.on("disconnect", () => process.exit());
