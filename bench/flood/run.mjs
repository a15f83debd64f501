// Stalled clients against `tenon run` with the component of examples/hello:
//   (cd examples/hello && npx tenon build -r) && node bench/flood/run.mjs [name…]
// For each attack it measures the server's resident memory before and at its highest, and another client's latency
// meanwhile. Fails when memory grows by more than the budget and 64 MiB, or when the median latency exceeds 50 ms.
// Writes a table into bench/RESULTS.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { conditions, record } from "../results.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const MiB = 1024 * 1024;
/** Default of `max_buffered_bytes`, computed from the default limits. */
const budget = 256 * MiB;
const seconds = Number(process.env.SECONDS ?? 15);

/** Attacks: each starts and returns a function that ends it. */
const attacks = {
  "60 stalled uploads of 9 MiB on one HTTP/2 connection": (url) => uploads(url, 1, 60),
  "60 stalled uploads of 9 MiB on each of 20 HTTP/2 connections": (url) => uploads(url, 20, 60),
  "2,000 connections that send a byte a second of a head": (url) =>
    dribble(url, 2000, "GET /run/hello/ HTTP/1.1\r\nx-long: "),
  "2,000 connections that send a byte a second of a body": (url) =>
    dribble(url, 2000, "POST /run/hello/users HTTP/1.1\r\nhost: x\r\ncontent-length: 9000000\r\n\r\n"),
  "1,000 connections that send 30 KiB of a head and stop": (url) =>
    dribble(url, 1000, `GET /run/hello/ HTTP/1.1\r\nx-long: ${"x".repeat(30 * 1024)}`),
  "500 stalled uploads of 1 MiB over HTTP/1.1": (url) =>
    dribble(url, 500, `POST /run/hello/users HTTP/1.1\r\nhost: x\r\ncontent-length: 9000000\r\n\r\n${"x".repeat(MiB)}`),
  "100 requests on each of 100 HTTP/2 connections, whose answers are not read": (url) => unread(url, 100, 100),
};

/** Opens HTTP/2 uploads that send 9 MiB of their announced 10. */
async function uploads(url, connections, streams) {
  const piece = Buffer.alloc(9 * MiB, "x");
  const sessions = Array.from({ length: connections }, () => {
    const session = connectHttp2(url, { maxSessionMemory: 1000 });
    session.on("error", () => {});
    for (let i = 0; i < streams; i++) {
      const stream = session.request({
        ":method": "POST",
        ":path": "/run/hello/users",
        "content-length": String(10 * MiB),
      });
      stream.on("error", () => {});
      stream.resume();
      stream.write(piece);
    }
    return session;
  });
  return () => {
    for (const session of sessions) session.destroy();
  };
}

/** Opens connections that send `first`, and then a byte per second. */
async function dribble(url, count, first) {
  const { hostname, port } = new URL(url);
  const sockets = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.resume();
    socket.write(first);
    sockets.push(socket);
    if (i % 100 === 99) await sleep(10);
  }
  const timer = setInterval(() => {
    for (const socket of sockets) if (!socket.destroyed) socket.write("x");
  }, 1000);
  return () => {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  };
}

/** Sends HTTP/2 requests from a client whose windows stay closed. */
async function unread(url, connections, streams) {
  const sessions = Array.from({ length: connections }, () => {
    const session = connectHttp2(url, { maxSessionMemory: 1000, settings: { initialWindowSize: 0 } });
    session.on("error", () => {});
    for (let i = 0; i < streams; i++) session.request({ ":path": "/run/hello/hello/Ada" }).on("error", () => {});
    return session;
  });
  return () => {
    for (const session of sessions) session.destroy();
  };
}

function residentBytes(pid) {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
}

/** Measures the latency of one answer to another client, in milliseconds. */
async function ask(url, agent) {
  const began = performance.now();
  const outgoing = request(`${url}/run/hello/hello/Ada`, { agent });
  outgoing.end();
  const [answer] = await once(outgoing, "response");
  answer.resume();
  await once(answer, "end");
  if (answer.statusCode !== 200) throw new Error(`another client got ${answer.statusCode}`);
  return performance.now() - began;
}

/**
 * Makes a folder with a configuration. Few requests run at once, because each instance also takes up to 2 MiB of
 * memory, which max_concurrent limits and max_buffered_bytes does not count.
 */
const configured = mkdtempSync(join(tmpdir(), "tenon-flood-"));
writeFileSync(join(configured, "tenon.toml"), '[project]\nname = "flood"\n\n[server]\nmax_concurrent = 48\n');
process.on("exit", () => rmSync(configured, { recursive: true }));

async function start() {
  const args = [
    join(root, "cli/bin/tenon.js"),
    "run",
    "--port",
    "0",
    "--json",
    join(root, "examples/hello/dist/hello.wasm"),
  ];
  const child = spawn(process.execPath, args, { cwd: configured, stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(child.stdout, "data");
  return { child, url: JSON.parse(line).url };
}

const metric = async (url, name) =>
  Number(new RegExp(`^${name} (\\d+)`, "m").exec(await (await fetch(`${url}/metrics`)).text())[1]);

const wanted = process.argv.slice(2);
const rows = [];
let failed = false;
for (const [name, attack] of Object.entries(attacks)) {
  if (wanted.length > 0 && !wanted.some((each) => name.includes(each))) continue;
  const { child, url } = await start();
  const agent = new Agent({ keepAlive: true });
  for (let i = 0; i < 500; i++) await ask(url, agent);
  const idle = residentBytes(child.pid);
  const end = await attack(url);
  const waits = [];
  let [highest, buffered] = [0, 0];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    waits.push(await ask(url, agent));
    highest = Math.max(highest, residentBytes(child.pid));
    if (waits.length % 20 === 0) buffered = Math.max(buffered, await metric(url, "tenon_buffered_bytes"));
    await sleep(20);
  }
  end();
  child.kill("SIGTERM");
  await once(child, "exit");
  waits.sort((a, b) => a - b);
  const [median, most] = [0.5, 0.99].map((share) => waits[Math.floor(share * (waits.length - 1))]);
  const grown = highest - idle;
  const good = grown <= budget + 64 * MiB && median <= 50;
  failed ||= !good;
  const mib = (bytes) => (bytes / MiB).toFixed(0);
  rows.push(
    `| ${name} | ${mib(idle)} | +${mib(grown)} | ${mib(buffered)} | ${median.toFixed(1)} | ${most.toFixed(1)} | ${good ? "yes" : "**no**"} |`,
  );
  console.log(rows.at(-1));
}
record(
  "bench/flood",
  `${conditions}; ${seconds} s an attack, attacker and server on the same cores; \`max_buffered_bytes\` is ${budget / MiB} MiB.

| attack | idle, MiB | grows by, MiB | held for clients, MiB | another client waits, median ms | 99 % | within bounds |
|---|---|---|---|---|---|---|
${rows.join("\n")}`,
);
process.exitCode = failed ? 1 : 0;
