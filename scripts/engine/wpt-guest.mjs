// Runs files `*.any.js` of the Web Platform Tests in the guest engine with all of `guest/src/platform`:
//   node scripts/engine/wpt-guest.mjs <checkout> [--failures <file>] [--jobs 2] <folder or file> …
// Prints a table. The checkout may be the part of the suite that Node's own tests contain. Tests that need a page are left out.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TIMEOUT_MS = 10_000;

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
  const { values, positionals } = parseArgs({
    options: { failures: { type: "string" }, jobs: { type: "string", default: "2" } },
    allowPositionals: true,
  });
  const [given, ...paths] = positionals;
  const checkout = resolve(given);
  const tests = paths.flatMap((part) =>
    filesIn(join(checkout, part)).flatMap((file) => {
      const variants = metas(readFileSync(file, "utf8"), "variant");
      return (variants.length > 0 ? variants : [""]).map((variant) => ({ part, file, variant }));
    }),
  );
  const platform = await bundled(
    [...modules, "./ts-sdk/src/fetch/classes/global.ts"].map((file) => `import ${JSON.stringify(file)};`).join("\n"),
  );
  const reports = new Map(tests.map((test) => [test, undefined]));
  const queue = [...tests];
  await Promise.all(Array.from({ length: Number(values.jobs) }, () => runAll(queue, { checkout, platform }, reports)));
  const failures = [];
  for (const part of paths) {
    let [passed, all] = [0, 0];
    for (const [test, report] of reports) {
      if (test.part !== part) continue;
      const name = relative(checkout, test.file) + test.variant;
      if (report.error !== undefined) failures.push(`${name}: ${report.error}`);
      for (const { name: subtest, status, message } of report.tests ?? []) {
        all++;
        if (status === 0) passed++;
        else failures.push(`${name}: ${subtest}: ${message}`);
      }
    }
    process.stdout.write(`${part}: ${passed} of ${all} subtests pass\n`);
  }
  if (values.failures) writeFileSync(values.failures, `${failures.join("\n")}\n`);
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
  const { checkout, platform } = workerData;
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
    const source = readFileSync(file, "utf8");
    const libraries = metas(source, "script").map((script) => {
      const at = script.startsWith("/") ? join(checkout, script) : join(dirname(file), script);
      return existsSync(at) ? readFileSync(at, "utf8") : "";
    });
    const scripts = [harness, SETUP, [...libraries, source].join("\n;\n"), "done();"];
    const url = `http://web-platform.test/${relative(checkout, file)}${variant}`;
    const engine = startEngine(
      join(root, "crates/engine/engine-full.wasm"),
      `${platform}\n${before(url)}\nconst scripts = ${JSON.stringify(scripts)};\n${HANDLER}`,
      {
        // Files of the suite, and the one program that needs no other host.
        call: ({ path, body }) => {
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
import { cancelCall, startCall } from "tenon:engine";
globalThis[Symbol.for("tenon.calls")] = startCall;
globalThis[Symbol.for("tenon.cancel")] = cancelCall;
globalThis.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false };
globalThis.window = globalThis;
globalThis.Window = { prototype: {} };
globalThis.crypto ??= { randomUUID: () => "00000000-0000-4000-8000-000000000000" };
globalThis.location = new URL(${JSON.stringify(url)});
{
  const { fetch: fetchAbsolute, Request: RequestAbsolute } = globalThis;
  const absolute = (input) => {
    if (input instanceof RequestAbsolute) return input;
    try { return new URL(\`\${input}\`, location.href).href; } catch { return input; }
  };
  const { redirect } = Response;
  Response.redirect = (url, ...more) => redirect.call(Response, absolute(url), ...more);
  globalThis.fetch = (input, ...more) => fetchAbsolute(absolute(input), ...more);
  globalThis.Request = new Proxy(RequestAbsolute, {
    construct: (target, [input, ...more], newTarget) => Reflect.construct(target, [absolute(input), ...more], newTarget),
  });
}`;
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
