// Bytes on the wire between Tenon and a registry: for the first and for further modules, published and pulled, with the engine
// as a blob of its own and without.
//   npm run build && node bench/registry/run.mjs
// Needs Debian's docker-registry. A proxy counts the bytes, heads of HTTP included.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pullModule } from "../../cli/dist/oci/pull.js";
import { conditions, record } from "../results.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tenon = join(root, "cli/bin/tenon.js");
const modules = (process.env.MODULES ?? "hello,users-sql,hono-app,shop").split(",");
const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
const environment = { ...process.env, DOCKER_CONFIG: folder };

/** Starts a server on a free port of this machine and returns the port. */
const listening = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));

const count = { up: 0, down: 0 };
/** Forwards connections to a port, and counts their bytes. */
function counting(port) {
  return createServer((client) => {
    const server = connect(port, "127.0.0.1");
    client.on("data", (piece) => {
      count.up += piece.length;
    });
    server.on("data", (piece) => {
      count.down += piece.length;
    });
    client.on("error", () => server.destroy()).pipe(server);
    server.on("error", () => client.destroy()).pipe(client);
  });
}

/** Runs something, and returns the bytes that went each way, and the time in milliseconds. */
async function measured(run) {
  const before = { ...count };
  const started = performance.now();
  await run();
  return { up: count.up - before.up, down: count.down - before.down, ms: performance.now() - started };
}

const probe = createServer();
const registryPort = await listening(probe);
await new Promise((resolve) => probe.close(resolve));
mkdirSync(join(folder, "store"));
writeFileSync(
  join(folder, "registry.yml"),
  `version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: ${join(folder, "store")}}}
http: {addr: "127.0.0.1:${registryPort}", secret: bench}
`,
);
const registry = spawn("docker-registry", ["serve", join(folder, "registry.yml")], { stdio: "ignore" });
const proxy = counting(registryPort);
try {
  while (!(await fetch(`http://127.0.0.1:${registryPort}/v2/`).catch(() => undefined)))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const host = `127.0.0.1:${await listening(proxy)}`;
  const publish = (name, repository, ...options) =>
    new Promise((resolve, reject) => {
      const reference = `oci://${host}/${repository}/${name}:1.0`;
      const child = spawn(process.execPath, [tenon, "publish", "-q", ...options, reference], {
        cwd: join(root, "examples", name),
        env: environment,
        stdio: ["ignore", "ignore", "inherit"],
      });
      child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`publish ended with ${code}`))));
    });
  const rows = [];
  for (const name of modules) {
    execFileSync(process.execPath, [tenon, "build", "-rc", "-q"], { cwd: join(root, "examples", name) });
    const row = { name, size: statSync(join(root, "examples", name, `dist/${name}-composed.wasm`)).size };
    row.published = await measured(() => publish(name, "whole"));
    row.slim = await measured(() => publish(name, "slim", "--slim"));
    for (const [key, repository, cache] of [
      ["first", "whole", join(folder, `cache-${name}`)],
      ["further", "whole", join(folder, "cache")],
      ["further", "slim", join(folder, "cache-slim")],
    ]) {
      const pull = () => pullModule(`oci://${host}/${repository}/${name}:1.0`, { cacheFolder: cache, environment });
      row[`${key}-${repository}`] = await measured(pull);
    }
    rows.push(row);
  }
  const kB = (bytes) => Math.round(bytes / 1000).toLocaleString("en");
  record(
    "bench/registry",
    `${conditions}; Debian's docker-registry. kB on the wire in both directions together, with the heads of HTTP; ms include the processor time of both ends. The modules
are published and pulled in this order. Each has a repository of its own, into which the registry copies the engine.

| module | component kB | published kB | ms | \`--slim\` kB | ms | pulled into an empty cache kB | ms | pulled after the ones above kB | ms |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${rows
  .map((row) => {
    const shown = [row.published, row.slim, row["first-whole"], row["further-whole"]].map(
      ({ up, down, ms }) => `${kB(up + down)} | ${Math.round(ms)}`,
    );
    return `| ${row.name} | ${kB(row.size)} | ${shown.join(" | ")} |`;
  })
  .join("\n")}`,
  );
} finally {
  proxy.close();
  registry.kill();
  rmSync(folder, { recursive: true, force: true });
}
