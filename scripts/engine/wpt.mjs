// Web Platform Tests as tasks for the probe: those that StarlingMonkey lists for its own runs.
import { spawn } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PORT = 8000;
const origin = `http://127.0.0.1:${PORT}`;

/** Hosts that tests may call. */
export const outbound = [`127.0.0.1:${PORT}`];

/**
 * Starts the server of a WPT checkout, which many tests call. It listens only on 127.0.0.1, and has this address
 * instead of its usual names, so `/etc/hosts` need not change. Tests that need another origin fail on every engine.
 *
 * @param {string} checkout its folder
 * @param {string} scratch a folder for its configuration and log
 */
export async function startWptServer(checkout, scratch) {
  const configuration = join(scratch, "wpt.json");
  const ports = { http: [PORT, "auto"] };
  const hosts = { browser_host: "127.0.0.1", alternate_hosts: { alt: "127.0.0.2" }, server_host: "127.0.0.1" };
  writeFileSync(configuration, JSON.stringify({ ...hosts, check_subdomains: false, bind_address: true, ports }));
  const log = openSync(join(scratch, "wpt.log"), "w");
  // `wpt serve` would install packages that are not needed for serving HTTP.
  const main = "import sys; sys.path.insert(0, '..'); import localpaths; from serve import serve; serve.main()";
  const args = ["-c", main, "--no-h2", "--config", configuration];
  const child = spawn("python3", args, { cwd: join(checkout, "tools/serve"), stdio: ["ignore", log, log] });
  process.once("exit", () => child.kill("SIGINT"));
  const isUp = () =>
    fetch(`${origin}/resources/testharness.js`).then(
      (response) => response.ok,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`the server of the Web Platform Tests ended; see ${scratch}/wpt.log`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return async () => {
    const exited = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.kill("SIGINT")) await exited;
  };
}

/**
 * Lists the tests of a StarlingMonkey checkout, with each of their variants. The server must be running.
 *
 * @param {string} starlingMonkey its folder
 */
export async function wpt(starlingMonkey) {
  const listed = JSON.parse(readFileSync(join(starlingMonkey, "tests/wpt-harness/tests.json"), "utf8"));
  const leftOut = new Map();
  const tests = [];
  const harness = await text(`${origin}/resources/testharness.js`);
  for (const entry of [...new Set(listed)]) {
    if (entry.startsWith("SKIP ")) {
      const reason = "StarlingMonkey skips it, too";
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      continue;
    }
    const path = entry.replace(/^SLOW /, "");
    const source = await text(`${origin}/${path}`);
    const meta = (key) =>
      [...source.matchAll(new RegExp(`^// META: *${key}=(.+)$`, "gm"))].map(([, value]) => value.trim());
    const libraries = await Promise.all(meta("script").map((at) => text(new URL(at, `${origin}/${path}`).href)));
    const variants = meta("variant");
    for (const variant of variants.length === 0 ? [""] : variants) {
      const url = `${origin}/${path}${variant}`;
      tests.push({
        id: `${path}${variant}`,
        task: () => ({
          // One script with the libraries and the test, so that `const` declarations are shared, as in a page.
          scripts: [before(url), harness, after, [...libraries, source, "done();"].join("\n")],
          until: ["{"],
          waitMs: 25_000,
        }),
        verdict,
      });
    }
  }
  return { tests, leftOut };
}

async function text(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.text();
}

/** A script by which `fetch` and its like take URLs relative to `location`, as in a page. */
export const absoluteUrls = `{
  const { fetch: fetchAbsolute, Request: RequestAbsolute } = globalThis;
  // Everything except a Request is converted to a text, such as the function URL in request-disturbed.any.js.
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

/**
 * Defines the parts of a worker that the engine lacks. The engine has a base for relative URLs only in its own `fetch`
 * event, which sets it from the request. So calls that need one get absolute URLs.
 *
 * @param {string} url the test's URL
 */
export function before(url) {
  return `
globalThis.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false };
globalThis.window = globalThis.self = globalThis;
globalThis.Window = { prototype: {} };
globalThis.addEventListener = () => {};
globalThis.SharedArrayBuffer ??= class SharedArrayBuffer {};
globalThis.MessageChannel ??= class MessageChannel {};
if (globalThis.crypto?.subtle) crypto.subtle.generateKey ??= () => Promise.reject(new Error("generateKey is not there"));
Object.defineProperty(globalThis, "location", { value: new URL(${JSON.stringify(url)}), configurable: true });
${absoluteUrls}`;
}

const after = `
setup({ explicit_done: true });
add_completion_callback((tests, { status, message }) => {
  print(JSON.stringify({ status, message, tests: tests.map(({ name, status, message }) => ({ name, status, message })) }));
});`;

/** Returns the number of tests of a file that passed. */
function verdict(report) {
  const { tests = [] } = result(report);
  const passed = tests.filter(({ status }) => status === 0).length;
  return `${passed} of ${tests.length}`;
}

function result(report) {
  if (!report.startsWith("{")) return {};
  const line = JSON.parse(report).printed.find((each) => each.startsWith("{"));
  return line === undefined ? {} : JSON.parse(line);
}
