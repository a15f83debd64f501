// Cost of an additional idle module: modules of one engine with different sources, each called once and then idle for
// longer than idle_timeout_ms.
//   npm run build && node bench/modules/run.mjs
// Takes a few minutes and 2 GB of the folder for temporary files. COUNTS=1,11,21 measures with so many modules instead.
// COUNTS=1,1001 COMPONENTS=250 serves each component under several names: a thousand components would take 15 GB. Mapped
// files count once for each mapping, so the resident memory is the same; the process's share (Pss) is smaller.
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { conditions, record } from "../results.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tenon = join(root, "cli/bin/tenon.js");
const counts = (process.env.COUNTS ?? "1,51,101").split(",").map(Number);
const most = Math.max(...counts);
const components = Math.min(Number(process.env.COMPONENTS ?? most), most);
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

/** The value below which a share of numbers is. */
function quantile(numbers, share) {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/**
 * Serves the modules, asks each once, waits until they are idle, and asks some again. Returns the resident memory by kind in MiB, and
 * the times of the first answers after idling in ms.
 */
async function measure(isolation, modules) {
  // No module idles while the others are asked.
  const idle = Math.max(2_000, 25 * modules.length);
  const child = spawn(process.execPath, [tenon, "run", "-q", "--port", "0", "--json", ...modules], {
    cwd: folder,
    env: {
      ...env,
      TENON_SERVER_ISOLATION: isolation,
      TENON_SERVER_IDLE_TIMEOUT_MS: String(idle),
      // Those that are compiled are waited for.
      TENON_SERVER_STARTUP_TIMEOUT_MS: "900000",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  try {
    return await measured(child, modules, idle);
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

async function measured(child, modules, timeout) {
  let line = "";
  for await (const piece of child.stdout) {
    line += piece;
    if (line.includes("\n")) break;
  }
  const { url } = JSON.parse(line);
  const resident = () => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const kind = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
    return { all: kind("VmRSS"), own: kind("RssAnon"), files: kind("RssFile") };
  };
  const ask = async (i) => {
    const began = performance.now();
    const answer = await fetch(`${url}/run/m${i}/hello/Ada`);
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.arrayBuffer();
    return performance.now() - began;
  };
  const share = () =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/smaps_rollup`, "utf8"))?.[1]) / 1024;
  const { all: loaded } = resident();
  for (let i = 0; i < modules.length; i++) await ask(i);
  const { all: asked } = resident();
  const pss = share();
  await new Promise((resolve) => setTimeout(resolve, 2 * timeout + 1_000));
  const idle = { loaded, asked, pss, ...resident() };
  const again = [];
  for (let i = 0; i < modules.length; i += Math.ceil(modules.length / 100)) again.push(await ask(i));
  Object.assign(idle, { first: quantile(again, 0.5), slow: quantile(again, 0.99) });
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
  const modules = Array.from({ length: components }, (_, number) => build(project, number));
  for (let number = components; number < most; number++) {
    const file = join(folder, "modules", `m${number}.wasm`);
    linkSync(modules[number % components], file);
    modules.push(file);
  }
  // Once for the cache.
  await measure("request", modules);
  const rows = [];
  for (const isolation of ["request", "shared"]) {
    let before;
    for (const count of counts) {
      const now = await measure(isolation, modules.slice(0, count));
      const kinds = ["loaded", "asked", "pss", "all", "own", "files"];
      const more = (kind) =>
        before === undefined ? "" : ((now[kind] - before[kind]) / (count - before.count)).toFixed(1);
      const times = [now.first, now.slow].map((time) => time.toFixed(1));
      const figures = [...kinds.map((kind) => Math.round(now[kind])), ...kinds.map(more), ...times];
      rows.push(`| ${[isolation, count, ...figures].join(" | ")} |`);
      before = { ...now, count };
    }
  }
  record(
    "bench/modules",
    `${conditions}. Modules of one engine: ${components} different components under ${most} names. Resident MiB of the process: when they are
loaded; when each was asked once, and its share of that (Pss); when they have been idle since; and of that its own memory, and files that are
mapped. Behind + is what each further module adds. Then the first answers of up to 100 modules after they were idle, one after another,
in ms.

| isolation | modules | loaded | asked | share | idle | own | files | + loaded | + asked | + share | + idle | + own | + files | first, median | 99 % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${rows.join("\n")}`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
