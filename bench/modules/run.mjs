// Cost of an additional idle module: modules of one engine with different sources, each called once and then idle for
// longer than idle_timeout_ms.
//   npm run build && node bench/modules/run.mjs
// Takes a few minutes and 4 GB of the folder for temporary files. COUNTS=1,11,21 sets the numbers of modules.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { conditions, record } from "../results.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tenon = join(root, "cli/bin/tenon.js");
const counts = (process.env.COUNTS ?? "1,51,101").split(",").map(Number);
const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
// The modules' code is deleted with the folder, instead of filling the user's cache.
const env = { ...process.env, TENON_CACHE_DIR: join(folder, "cache") };

/** Builds a distinct module and returns its file. */
function build(project, number) {
  const source = join(project, "src/handler.ts");
  const handler = readFileSync(join(root, "examples/hello/src/handler.ts"), "utf8");
  writeFileSync(source, `${handler}\n(globalThis as { module?: string }).module = "this is module ${number}";\n`);
  execFileSync(process.execPath, [tenon, "build", "-r", "-q"], { cwd: project, env });
  const file = join(folder, "modules", `m${number}.wasm`);
  renameSync(join(project, "dist/hello.wasm"), file);
  return file;
}

/** Serves the modules, calls each once, waits until they are idle, and returns the resident memory by kind, in MiB. */
async function measure(isolation, modules) {
  const child = spawn(process.execPath, [tenon, "run", "-q", "--port", "0", "--json", ...modules], {
    cwd: folder,
    env: { ...env, TENON_SERVER_ISOLATION: isolation, TENON_SERVER_IDLE_TIMEOUT_MS: "2000" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { url } = JSON.parse(await new Promise((resolve) => child.stdout.once("data", resolve)));
  const resident = () => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const kind = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
    return { all: kind("VmRSS"), own: kind("RssAnon"), files: kind("RssFile") };
  };
  const { all: loaded } = resident();
  for (let i = 0; i < modules.length; i++) {
    const answer = await fetch(`${url}/run/m${i}/hello/Ada`);
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.arrayBuffer();
  }
  const { all: asked } = resident();
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const idle = { loaded, asked, ...resident() };
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
  return idle;
}

try {
  const project = join(folder, "project");
  mkdirSync(join(folder, "modules"));
  cpSync(join(root, "examples/hello"), project, {
    recursive: true,
    filter: (path) => !/node_modules|dist|\.tenon/.test(path.slice(root.length)),
  });
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
  const modules = Array.from({ length: Math.max(...counts) }, (_, number) => build(project, number));
  // A first run fills the cache.
  await measure("request", modules);
  const rows = [];
  for (const isolation of ["request", "shared"]) {
    let before;
    for (const count of counts) {
      const now = await measure(isolation, modules.slice(0, count));
      const kinds = ["loaded", "asked", "all", "own", "files"];
      const more = (kind) =>
        before === undefined ? "" : ((now[kind] - before[kind]) / (count - before.count)).toFixed(1);
      const figures = [...kinds.map((kind) => Math.round(now[kind])), ...kinds.map(more)];
      rows.push(`| ${[isolation, count, ...figures].join(" | ")} |`);
      before = { ...now, count };
    }
  }
  record(
    "bench/modules",
    `${conditions}. Different modules of one engine. Resident MiB of the process: when they are loaded; when each was asked
once; when they have been idle since; and of that its own memory, and files that are mapped. Behind + is what each further
module adds.

| isolation | modules | loaded | asked | idle | own | files | + loaded | + asked | + idle | + own | + files |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${rows.join("\n")}`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
