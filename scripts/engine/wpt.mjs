// The server of the Web Platform Tests, and what their runs in a component need.
import { spawn } from "node:child_process";
import { openSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PORT = 8000;
const origin = `http://127.0.0.1:${PORT}`;

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
