// Runs files `*.any.js` of the Web Platform Tests in the guest engine with all of `guest/src/platform`:
//   node scripts/engine/wpt-guest.mjs <checkout> [--failures <file>] [--jobs 2] [--serve] <folder or file> …
//   node scripts/engine/wpt-guest.mjs <checkout> --serve --starlingmonkey <checkout>
// Prints a table. The checkout may be the part of the suite that Node's own tests contain. Tests that need a page are left out.
// `--serve` starts the suite's server (`tools/serve`), which many tests of `fetch` call. With `--starlingmonkey` the files are those
// that StarlingMonkey lists, and the table has its expected passes, and how many of these do not pass here.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { build } from "esbuild";
import { argumentsOf } from "../usage.mjs";
import { callsAtOnce } from "./calls-at-once.mjs";
import { absoluteUrls, startWptServer } from "./wpt.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TIMEOUT_MS = 60_000;

/** Modules that define the globals, in their order. */
const modules = [
  "self",
  "encoding/install-all",
  "encoding/install-encoder",
  "url/install",
  "url/install-params",
  ...["event", "event-target", "custom-event", "abort-signal", "abort-controller", "message-event", "error-event"].map(
    (name) => `events/install/${name}`,
  ),
  "structured-clone/install",
  "message-channel/install",
  "report-error/install",
  "streams/install",
  "streams/install-text",
  "compression/install",
  "file/install",
  "file/install-form",
  "events/install/promise-rejection-event",
  "events/global-target",
  "console/install",
  ...["install", "with-curves", "with-rsa", "with-symmetric"].map((name) => `crypto/${name}`),
  "../polyfills/url-pattern",
].map((name) => `./guest/src/platform/${name}.ts`);

async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    external: ["tenon:engine"],
    alias: { "@tenon/sdk/web-idl": join(root, "ts-sdk/src/web-idl/index.ts") },
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
    // Files that only define globals count as used.
    ignoreAnnotations: true,
    logLevel: "error",
  });
  return outputFiles[0].text;
}

/** The files of a folder that need no page. */
function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  const inside = readdirSync(path).filter((name) => !["resources", "support"].includes(name));
  return inside.flatMap((name) => filesIn(join(path, name))).filter((file) => file.endsWith(".any.js"));
}

if (isMainThread) await main();
else await work();

async function main() {
  const { values, positionals } = argumentsOf(import.meta.url, {
    options: {
      failures: { type: "string" },
      jobs: { type: "string", default: "2" },
      serve: { type: "boolean", default: false },
      starlingmonkey: { type: "string" },
    },
    allowPositionals: true,
  });
  const [given, ...paths] = positionals;
  const checkout = resolve(given);
  const other = values.starlingmonkey && join(resolve(values.starlingmonkey), "tests/wpt-harness");
  const files = other
    ? listed(other, checkout).filter(([, file]) => paths.length === 0 || paths.some((path) => file.includes(path)))
    : paths.flatMap((part) => filesIn(join(checkout, part)).map((file) => [part, file]));
  const tests = files.flatMap(([part, file]) => {
    const variants = metas(readFileSync(file, "utf8"), "variant");
    return (variants.length > 0 ? variants : [""]).map((variant) => ({ part, file, variant }));
  });
  const scratch = join(root, "target/engine");
  mkdirSync(scratch, { recursive: true });
  const stopServer = values.serve ? await startWptServer(checkout, scratch) : undefined;
  const platform = await bundled(
    [...modules, "./ts-sdk/src/fetch/classes/global.ts"].map((file) => `import ${JSON.stringify(file)};`).join("\n"),
  );
  const reports = new Map(tests.map((test) => [test, undefined]));
  const queue = [...tests];
  const data = { checkout, platform, isServed: values.serve };
  await Promise.all(Array.from({ length: Number(values.jobs) }, () => runAll(queue, data, reports)));
  await stopServer?.();
  const failures = [];
  const sums = { ours: [0, 0], theirs: [0, 0], lost: 0 };
  for (const part of [...new Set(files.map(([part]) => part))]) {
    const [ours, theirs, lost] = [[0, 0], [0, 0], []];
    const seen = new Map();
    for (const [test, report] of reports) {
      if (test.part !== part) continue;
      const path = relative(checkout, test.file);
      const name = path + test.variant;
      if (report.error !== undefined) failures.push(`${name}: ${report.error}`);
      seen.set(path, seen.get(path) ?? new Set());
      for (const { name: subtest, status, message } of report.tests ?? []) {
        ours[1]++;
        if (status === 0) {
          ours[0]++;
          seen.get(path).add(subtest);
        } else failures.push(`${name}: ${subtest}: ${message}`);
      }
    }
    for (const [path, passed] of seen) {
      for (const [subtest, { status }] of Object.entries(expectations(other, path))) {
        theirs[1]++;
        if (status !== "PASS") continue;
        theirs[0]++;
        if (!passed.has(subtest)) lost.push(`${path}: ${subtest}`);
      }
    }
    for (const at of [0, 1]) {
      sums.ours[at] += ours[at];
      sums.theirs[at] += theirs[at];
    }
    sums.lost += lost.length;
    failures.push(...lost.map((each) => `LOST ${each}`));
    print(part, ours, theirs, lost.length);
  }
  print("all", sums.ours, sums.theirs, sums.lost);
  if (values.failures) writeFileSync(values.failures, `${failures.join("\n")}\n`);

  function print(part, [passed, all], [theirPassed, theirAll], lost) {
    const beside = other ? ` | StarlingMonkey ${theirPassed} of ${theirAll} | ${lost} of these do not pass` : "";
    process.stdout.write(`${part}: ${passed} of ${all} subtests pass${beside}\n`);
  }
}

/** The files that StarlingMonkey runs, each with the part of the suite that it belongs to. A test may have lost `tentative` since. */
function listed(folder, checkout) {
  const entries = JSON.parse(readFileSync(join(folder, "tests.json"), "utf8"));
  const paths = [...new Set(entries)]
    .filter((entry) => !entry.startsWith("SKIP "))
    .map((entry) => entry.replace(/^SLOW /, ""));
  return paths.flatMap((path) => {
    const [first, second] = path.split("/");
    const part = ["fetch", "html", "dom"].includes(first) ? `${first}/${second}` : first;
    const now = [path.replace(".tentative", ""), path]
      .map((each) => join(checkout, each))
      .find((file) => existsSync(file));
    if (now === undefined) process.stdout.write(`${path} is not in the checkout\n`);
    return now === undefined ? [] : [[part, now]];
  });
}

/** The results that StarlingMonkey expects of a file. */
function expectations(folder, path) {
  const names = [path, path.replace(/\.(any|window|https)\./, ".tentative.$1.")];
  const file =
    folder && names.map((name) => join(folder, "expectations", `${name}.json`)).find((name) => existsSync(name));
  return file ? JSON.parse(readFileSync(file, "utf8")) : {};
}

/** Runs tests of the queue in one thread after another; a test that never ends takes its thread with it. */
async function runAll(queue, data, reports) {
  for (let worker; ; ) {
    const test = queue.shift();
    if (test === undefined) return worker?.terminate();
    worker ??= new Worker(fileURLToPath(import.meta.url), { workerData: data });
    const { promise, resolve } = Promise.withResolvers?.() ?? withResolvers();
    const timer = setTimeout(() => resolve({ error: "does not end" }), TIMEOUT_MS);
    const fail = (thrown) => resolve({ error: String(thrown), isOver: true });
    worker.on("message", resolve).on("error", fail);
    worker.postMessage({ file: test.file, variant: test.variant });
    const report = await promise;
    clearTimeout(timer);
    worker.off("message", resolve).off("error", fail);
    if (report.error === "does not end" || report.isOver) {
      await worker.terminate();
      worker = undefined;
    }
    reports.set(test, report);
  }
}

function withResolvers() {
  let resolve;
  const promise = new Promise((resolving) => {
    resolve = resolving;
  });
  return { promise, resolve };
}

function metas(source, key) {
  return [...source.matchAll(new RegExp(`^// META: *${key}=(.+)$`, "gm"))].map(([, value]) => value.trim());
}

async function work() {
  const { checkout, platform, isServed } = workerData;
  const origin = isServed ? "http://127.0.0.1:8000" : "http://web-platform.test";
  const callServer = isServed ? callsAtOnce(2_000) : undefined;
  const read = (path) => {
    if (!path.includes(".sub.") || !isServed) return readFileSync(path, "utf8");
    // The server writes its names into such files.
    const url = `${origin}/${relative(checkout, path)}`;
    return new TextDecoder().decode(callServer({ method: "GET", path: url, headers: [] }).body);
  };
  const { outputFiles } = await build({
    entryPoints: [join(root, "guest/testing/engine.ts")],
    write: false,
    format: "esm",
    logLevel: "error",
  });
  const { startEngine } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  const harness = readFileSync(join(checkout, "resources/testharness.js"), "utf8");
  parentPort.on("message", ({ file, variant }) => {
    try {
      parentPort.postMessage(run(file, variant));
    } catch (thrown) {
      parentPort.postMessage({ error: String(thrown).slice(0, 500) });
    }
  });

  function run(file, variant) {
    const source = read(file);
    const libraries = metas(source, "script").map((script) => {
      const name = script.replace("/resources/WebIDLParser.js", "/resources/webidl2/lib/webidl2.js");
      const at = name.startsWith("/") ? join(checkout, name) : join(dirname(file), name);
      return existsSync(at) ? read(at) : "";
    });
    const scripts = [harness, SETUP, [...libraries, source].join("\n;\n"), "done();"];
    const url = `${origin}/${relative(checkout, file)}${variant}`;
    const engine = startEngine(
      join(root, "crates/engine/engine-full.wasm"),
      `${platform}\n${before(url)}\nconst scripts = ${JSON.stringify(scripts)};\n${HANDLER}`,
      {
        // Without the server: files of the suite, and the one program that needs no other host.
        call: (request) => {
          if (callServer !== undefined) return callServer(request);
          const { path, body } = request;
          if (path.endsWith("/echo-content.py")) return { status: 200, headers: [], body };
          const at = join(checkout, decodeURIComponent(new URL(path).pathname));
          if (!existsSync(at)) return { status: 404, headers: [], body: new Uint8Array() };
          return { status: 200, headers: [], body: readFileSync(at) };
        },
      },
    );
    const { body } = engine.handle({});
    const text = new TextDecoder().decode(body ?? new Uint8Array());
    return text.startsWith("{") ? JSON.parse(text) : { error: `no report: ${text}${engine.printed()}`.slice(0, 500) };
  }
}

/** Defines the parts of a worker that components lack. */
function before(url) {
  return `
import { cancelCall, cancelStream, readStream, startCall, startStream, streamHead, streamRoom, writeStream } from "tenon:engine";
globalThis[Symbol.for("tenon.calls")] = startCall;
globalThis[Symbol.for("tenon.cancel")] = cancelCall;
globalThis[Symbol.for("tenon.call-streams")] =
  { start: startStream, head: streamHead, read: readStream, write: writeStream, room: streamRoom, cancel: cancelStream };
globalThis.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false };
globalThis.window = globalThis;
globalThis.Window = { prototype: {} };
globalThis.location = new URL(${JSON.stringify(url)});
${absoluteUrls}`;
}

const SETUP = `
setup({ explicit_done: true });
add_completion_callback((tests, { status, message }) => {
  const report = { tests: tests.map(({ name, status, message }) => ({ name, status, message })) };
  if (status !== 0) report.error = \`harness: \${message}\`;
  globalThis.__report(JSON.stringify(report));
});`;

const HANDLER = `
const evaluate = eval;
export const handler = {
  async handle() {
    const report = new Promise((resolve) => { globalThis.__report = resolve; });
    let thrown = "";
    for (const script of scripts) {
      try {
        evaluate(script);
      } catch (error) {
        thrown = String(error);
      }
    }
    const text = await report;
    const result = thrown === "" ? text : JSON.stringify({ ...JSON.parse(text), error: thrown });
    return { status: 200, headers: [], body: new TextEncoder().encode(result) };
  },
};`;
