// Prepares a clone for its commands: packages installed, addon built, TypeScript compiled. A step is skipped when its
// result is newer than all of its sources. It uses only Node itself, because no package is installed yet.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a command in the clone. When it fails, ends this process with the command's exit code. */
export function run(command, args, options = {}) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (error?.code === "ENOENT") fail(`${command} is not installed`);
  if (signal !== null) process.exit(130);
  if (status !== 0) {
    console.error(`\n${[command, ...args].join(" ")} failed (${status ?? error?.message})`);
    process.exit(status ?? 1);
  }
}

export function fail(message) {
  console.error(`tenon: ${message}`);
  process.exit(1);
}

export function say(message) {
  console.error(`\n==> ${message}`);
}

/** Installs packages, builds the addon and compiles the TypeScript, unless that is done. */
export function setUp() {
  checkTools();
  if (isStale("node_modules/.package-lock.json", ["package-lock.json", "package.json"])) {
    say("Installing packages");
    run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
  const addon = readdirSync(join(root, "bindings")).find((file) => file.endsWith(".node"));
  const sources = ["crates", "bindings/src", "bindings/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"];
  if (addon === undefined || isStale(`bindings/${addon}`, sources)) {
    say("Building the native addon (the first time this compiles wasmtime, which takes 10 to 20 minutes)");
    run("npm", ["run", "build", "--silent", "-w", "@tenon/native"]);
  }
  say("Compiling the TypeScript");
  run("npm", ["run", "build", "--silent"]);
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
