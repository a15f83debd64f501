// Counts the requests that fail while the versions of a module follow each other, under constant load, half of it on new
// connections. The changes are made over the admin socket of `tenon run`, or in its tenon.toml, which it watches.
//
//   node scripts/changes.mjs [--requests 100000] [--changes 100] [--concurrency 32] [--by admin|file]
//
// It prints one line of JSON, and ends with 1 when a request failed, or when a version never answered.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isStale, root, run, say, setUp } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    requests: { type: "string", default: "100000" },
    changes: { type: "string", default: "100" },
    concurrency: { type: "string", default: "32" },
    by: { type: "string", default: "admin" },
  },
});
const [requests, changes, concurrency] = [values.requests, values.changes, values.concurrency].map(Number);
if (!["admin", "file"].includes(values.by)) throw new Error("--by takes admin or file");
const tenon = join(root, "cli/bin/tenon.js");
const built = join(root, "target/changes");
const component = (version) => join(built, `v${version}/dist/app.wasm`);

await setUp();
for (const version of [1, 2]) {
  if (!isStale(`target/changes/v${version}/dist/app.wasm`, ["ts-sdk/dist", "wit", "scripts/changes.mjs"])) continue;
  say(`Building version ${version}`);
  const project = join(built, `v${version}`);
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "tenon.toml"), '[project]\nname = "app"\n');
  const handler = `import { get, ok, routes } from "@tenon/sdk";\nexport default routes({ index: get("/", () => ok(${version})) });\n`;
  writeFileSync(join(project, "src/handler.ts"), handler);
  writeFileSync(join(project, "package.json"), '{ "type": "module" }\n');
  run(process.execPath, [tenon, "build", "-r"], { cwd: project });
}

const folder = mkdtempSync(join(tmpdir(), "tenon-changes-"));
const socketPath = join(folder, "admin.sock");
/** Names a version in tenon.toml, which is replaced as a whole. */
function configure(version) {
  const text = `[project]\nname = "changes"\n[server]\nadmin = "unix://${socketPath}"\n[modules.app]\nsource = ${JSON.stringify(component(version))}\nmount = "/"\n`;
  writeFileSync(join(folder, "next.toml"), text);
  renameSync(join(folder, "next.toml"), join(folder, "tenon.toml"));
}
configure(1);
const server = spawn(process.execPath, [tenon, "run", "--port", "0", "--json", "-q"], {
  cwd: folder,
  stdio: ["ignore", "pipe", "inherit"],
});
const ended = new Promise((resolve) => server.once("exit", resolve));
const [line] = await Promise.race([
  createInterface({ input: server.stdout })
    [Symbol.asyncIterator]()
    .next()
    .then(({ value }) => [value]),
  ended.then((code) => Promise.reject(new Error(`tenon run ended with ${code}`))),
]);
const { port } = new URL(JSON.parse(line).url);

const kept = new Agent({ keepAlive: true, maxSockets: concurrency });
/** Sends one request. Resolves with its status and body, and rejects without a complete answer. */
function ask(options, body) {
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      incoming.once("end", () => resolve({ status: incoming.statusCode, text }));
      incoming.once("error", reject);
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

const failed = new Map();
const seen = new Map();
let sent = 0;
let changed = 0;
async function load() {
  while (sent < requests || changed < changes) {
    const number = sent++;
    const agent = number % 2 === 0 ? kept : false;
    const answer = await ask({ host: "127.0.0.1", port, path: "/", agent }).catch((error) => ({ failure: error.code }));
    const reason = answer.failure ?? (answer.status === 200 ? undefined : answer.status);
    if (reason === undefined) seen.set(answer.text, (seen.get(answer.text) ?? 0) + 1);
    else failed.set(reason, (failed.get(reason) ?? 0) + 1);
  }
}
/** Makes a change, and returns when the version has taken over. */
async function changeTo(version) {
  if (values.by === "file") {
    configure(version);
    while (
      (await ask({ host: "127.0.0.1", port, path: "/", agent: kept }).catch(() => undefined))?.text !== `${version}`
    )
      await new Promise((resolve) => setTimeout(resolve, 5));
    return;
  }
  const headers = { "content-type": "application/json" };
  const options = { socketPath, method: "PUT", path: "/modules/app", headers };
  const answer = await ask(options, JSON.stringify({ source: component(version) }));
  if (answer.status !== 200) throw new Error(`the change was refused: ${answer.text}`);
}
/** Makes each change when its share of the requests has been sent. */
async function change() {
  const times = [];
  while (changed < changes) {
    // The server takes as long as it needs for one; then there are more requests than asked for.
    if (sent < (requests / changes) * changed) await new Promise((resolve) => setTimeout(resolve, 1));
    else {
      const began = performance.now();
      await changeTo(2 - (changed % 2));
      times.push(performance.now() - began);
      changed += 1;
    }
  }
  return times.sort((one, other) => one - other);
}
const began = performance.now();
const [times] = await Promise.all([change(), ...Array.from({ length: concurrency }, load)]);
const seconds = (performance.now() - began) / 1000;
kept.destroy();
server.kill("SIGTERM");
await ended;
rmSync(folder, { recursive: true, force: true });
const failures = [...failed.values()].reduce((sum, count) => sum + count, 0);
const result = {
  requests: sent,
  failed: failures,
  reasons: Object.fromEntries(failed),
  by: values.by,
  changes: changed,
  change_ms: { median: Math.round(times[times.length >> 1] ?? 0), longest: Math.round(times.at(-1) ?? 0) },
  requests_per_s: Math.round(sent / seconds),
  versions: Object.fromEntries(seen),
};
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exitCode = failures === 0 && changed === changes && seen.size === Math.min(2, changes + 1) ? 0 : 1;
