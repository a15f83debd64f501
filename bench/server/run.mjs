// The program `tenon-server`: the time from its start to the first answer, with code in place of the component, as in an image; its
// resident memory; and the sizes of what an image has.
//   cargo build --profile dist --workspace --bin tenon-server
//   (cd examples/hello && node ../../cli/bin/tenon.js build -r --server)
//   node bench/server/run.mjs target/x86_64-unknown-linux-gnu/dist/tenon-server examples/hello/dist/server /run/hello/hello/Ada
// The program of deploy/Containerfile.static, from `node scripts/cross/build.mjs linux-x64-musl --server`, has a section of its own.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { conditions, record } from "../results.mjs";

const [program, server, path] = process.argv.slice(2);
if (path === undefined) throw new Error("usage: run.mjs <program> <folder with server.json> <path of a request>");
const isStatic = !execFileSync("readelf", ["-lW", program], { encoding: "utf8" }).includes("INTERP");
const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
cpSync(server, folder, { recursive: true });
const configuration = join(folder, "server.json");
/** Nothing is set in an image, either. */
const env = {};

function freePort() {
  return new Promise((done) => {
    const listener = createServer().listen(0, "127.0.0.1", () => {
      const { port } = listener.address();
      listener.close(() => done(port));
    });
  });
}

/** The status of an answer; undefined when nobody listens. */
function ask(port) {
  return new Promise((done) => {
    const outgoing = request({ host: "127.0.0.1", port, path, agent: false }, (incoming) => {
      incoming.resume().once("end", () => done(incoming.statusCode));
    });
    outgoing.once("error", () => done(undefined)).end();
  });
}

/** One start: the time to the first answer in ms, and resident MiB after it. */
async function start() {
  const port = await freePort();
  const began = performance.now();
  const child = spawn(program, ["run", configuration, "--port", String(port), "--log-level", "error"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = new Promise((done) => child.once("exit", done));
  let status;
  while (status === undefined && child.exitCode === null) status = await ask(port);
  const first = performance.now() - began;
  if (status !== 200) throw new Error(`it answered ${status}`);
  const text = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const kind = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
  const memory = { all: kind("VmRSS"), own: kind("RssAnon") };
  child.kill("SIGTERM");
  await exited;
  return { first, ...memory };
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1];
const mb = (bytes) => (bytes / 1e6).toFixed(1);

try {
  execFileSync(program, ["compile", "--in-place", "--target-cpu", "x86-64-v2", configuration], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  await start();
  const runs = [];
  for (let i = 0; i < 21; i++) runs.push(await start());
  const files = [
    ["the program", [program]],
    ["the compiled component and the configuration", readdirSync(folder).map((name) => join(folder, name))],
  ];
  const rows = files.map(([what, paths]) => {
    const packed = paths.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 6 }).length, 0);
    const bytes = paths.reduce((sum, file) => sum + statSync(file).size, 0);
    return { what, bytes, packed };
  });
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  record(
    isStatic ? "bench/server, linked statically" : "bench/server",
    `${conditions}. \`tenon-server\`${isStatic ? ", linked statically with musl," : ""} with one module and its compiled code. From its start to the first answer: ${median(runs.map(({ first }) => first)).toFixed(0)} ms
(median of ${runs.length}; ${Math.min(...runs.map(({ first }) => first)).toFixed(0)} to ${Math.max(...runs.map(({ first }) => first)).toFixed(0)}). Resident then: ${median(runs.map(({ all }) => all)).toFixed(0)} MiB, of which ${median(runs.map(({ own }) => own)).toFixed(0)} MiB are its own and the
rest files that are mapped.

| in an image | MB | compressed (gzip), MB |
|---|---:|---:|
${rows.map(({ what, bytes, packed }) => `| ${what} | ${mb(bytes)} | ${mb(packed)} |`).join("\n")}
| all of it | ${mb(sum("bytes"))} | ${mb(sum("packed"))} |`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
