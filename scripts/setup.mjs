// Prepares a clone for its commands: packages installed, addon built, TypeScript compiled. A step is skipped when its
// result is newer than all of its sources. It uses only Node itself, because no package is installed yet.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns how a command is started. On Windows `npm` is a script of the shell, which Node does not start. */
export function started(command, args) {
  if (command !== "npm" || process.platform !== "win32") return [command, args];
  const cli = process.env.npm_execpath ?? join(dirname(process.execPath), "node_modules/npm/bin/npm-cli.js");
  return [process.execPath, [cli, ...args]];
}

/** Runs a command in the clone. When it fails, ends this process with the command's exit code. */
export function run(command, args, options = {}) {
  const status = exitCode(command, args, options);
  if (status !== 0) end(command, args, status);
}

/** Runs a command in the clone, and returns its exit code. */
export function exitCode(command, args, options = {}) {
  const { status, signal, error } = spawnSync(...started(command, args), { cwd: root, stdio: "inherit", ...options });
  if (error?.code === "ENOENT") fail(`${command} is not installed`);
  if (error !== undefined) fail(`${command}: ${error.message}`);
  if (signal !== null) process.exit(130);
  return status;
}

function end(command, args, status) {
  console.error(`\n${[command, ...args].join(" ")} failed (${status})`);
  process.exit(status);
}

export function fail(message) {
  console.error(`tenon: ${message}`);
  process.exit(1);
}

export function say(message) {
  console.error(`\n==> ${message}`);
}

/** Installs packages, builds the addon and compiles the TypeScript, unless that is done. */
export async function setUp() {
  checkTools();
  if (isStale("node_modules/.package-lock.json", ["package-lock.json", "package.json"])) {
    say("Installing packages");
    run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
  const addon = readdirSync(join(root, "bindings")).find((file) => file.endsWith(".node"));
  const sources = ["crates", "bindings/src", "bindings/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"];
  if (addon === undefined || isStale(`bindings/${addon}`, sources)) {
    say("Building the native addon (the first time this compiles wasmtime, which takes 10 to 20 minutes)");
    await compile("npm", ["run", "build", "--silent", "-w", "@tenon/native"]);
  }
  say("Compiling the TypeScript");
  run("npm", ["run", "build", "--silent"]);
}

/**
 * Runs a command that runs cargo, and shows how many crates are compiled. What is compiled stays when it is ended; the next run
 * continues there.
 */
async function compile(command, args) {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ["inherit", "inherit", "pipe"],
    env: { ...process.env, CARGO_TERM_PROGRESS_WHEN: "always", CARGO_TERM_PROGRESS_WIDTH: "80" },
  });
  const started = Date.now();
  const isTerminal = process.stderr.isTTY === true;
  let told = started;
  let rest = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    const lines = `${rest}${text}`.split(/[\r\n]+/);
    rest = lines.pop();
    for (const line of lines) {
      const progress = /\] (\d+)\/(\d+)/.exec(line);
      if (progress === null) {
        // Each crate has a line, which the count replaces.
        if (!/^ *(Compiling|Downloaded|Blocking|Finished) /.test(line)) console.error(line);
      } else if (Date.now() - told >= (isTerminal ? 1_000 : 60_000)) {
        told = Date.now();
        const minutes = Math.floor((told - started) / 60_000);
        const shown = `${progress[1]} of ${progress[2]} crates are compiled, after ${minutes} min`;
        process.stderr.write(isTerminal ? `\r\x1b[K${shown}` : `${shown}\n`);
      }
    }
  });
  const [status, signal] = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (...ended) => resolve(ended));
  });
  if (rest !== "") console.error(rest);
  if (isTerminal) process.stderr.write("\r\x1b[K");
  if (signal !== null) process.exit(130);
  if (status !== 0) end(command, args, status);
}

function checkTools() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`Node 20.19 or later is needed; this is ${process.versions.node}`);
  if (spawnSync("cargo", ["--version"]).error) fail("Rust is needed to build the native addon: install it with rustup");
  if (spawnSync("cc", ["--version"]).error) {
    fail("a C compiler is needed to build the native addon; on Debian: apt-get install gcc libc6-dev");
  }
}

/** Returns whether a result is missing, or older than one of its source files or folders. */
export function isStale(result, sources) {
  const path = join(root, result);
  if (!existsSync(path)) return true;
  const made = statSync(path).mtimeMs;
  return sources.some((source) => newest(join(root, source)) > made);
}

function newest(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  const left = new Set(["node_modules", "target", "dist", ".tenon"]);
  return readdirSync(path)
    .filter((name) => !left.has(name))
    .reduce((latest, name) => Math.max(latest, newest(join(path, name))), 0);
}
