// The systems that Tenon is built for: one row for each, read by every script about platforms.
import { fail } from "../setup.mjs";

/**
 * - `rust`: the target's name for rustc.
 * - `zig`: the same name with the oldest C library or system that the binary has to run on, for cargo-zigbuild.
 * - `os`, `cpu`, `libc`: npm's names.
 * - `family`: the file beside this one with what only this kind of system needs.
 * - `debian`: the architecture of Debian's packages for it.
 */
export const targets = {
  "linux-x64-gnu": {
    rust: "x86_64-unknown-linux-gnu",
    zig: "x86_64-unknown-linux-gnu.2.28",
    os: "linux",
    cpu: "x64",
    libc: "glibc",
    family: "linux",
    debian: "amd64",
  },
  "linux-arm64-gnu": {
    rust: "aarch64-unknown-linux-gnu",
    zig: "aarch64-unknown-linux-gnu.2.28",
    os: "linux",
    cpu: "arm64",
    libc: "glibc",
    family: "linux",
    debian: "arm64",
  },
  "linux-x64-musl": {
    rust: "x86_64-unknown-linux-musl",
    zig: "x86_64-unknown-linux-musl",
    os: "linux",
    cpu: "x64",
    libc: "musl",
    family: "linux",
    debian: "amd64",
  },
  "linux-arm64-musl": {
    rust: "aarch64-unknown-linux-musl",
    zig: "aarch64-unknown-linux-musl",
    os: "linux",
    cpu: "arm64",
    libc: "musl",
    family: "linux",
    debian: "arm64",
  },
  "darwin-x64": {
    rust: "x86_64-apple-darwin",
    zig: "x86_64-apple-darwin",
    os: "darwin",
    cpu: "x64",
    family: "darwin",
  },
  "darwin-arm64": {
    rust: "aarch64-apple-darwin",
    zig: "aarch64-apple-darwin",
    os: "darwin",
    cpu: "arm64",
    family: "darwin",
  },
  "win32-x64": {
    rust: "x86_64-pc-windows-gnu",
    zig: "x86_64-pc-windows-gnu",
    os: "win32",
    cpu: "x64",
    family: "windows",
  },
};

/** Ends this process unless there are names, and each is a target. */
export function checkTargets(names) {
  const all = Object.keys(targets).join(", ");
  if (names.length === 0) fail(`name a target: ${all}`);
  for (const name of names) if (!Object.hasOwn(targets, name)) fail(`${name} must be one of ${all}`);
}

/** The end of the names of a target's addon and package. Node for Windows is MSVC's, and napi-rs' loader asks for addons by that name. */
export const suffixOf = (target) => (targets[target].os === "win32" ? `${target}-msvc` : target);

/** The name of a target's addon. */
export const addonOf = (target) => `tenon.${suffixOf(target)}.node`;

/** The folder of a target's package, where its addon is built. */
export const packageOf = (target) => `bindings/npm/${suffixOf(target)}`;

/** The file of a target's `tenon-server`. */
export const serverOf = (target) =>
  `target/cross-server/${target}/tenon-server${targets[target].os === "win32" ? ".exe" : ""}`;

/** The target that this process runs on; undefined when it has no row. */
export function hostTarget() {
  const { os, cpu } = { os: process.platform, cpu: process.arch };
  const libc = os !== "linux" ? undefined : process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
  return Object.keys(targets).find((name) => {
    const target = targets[name];
    return target.os === os && target.cpu === cpu && target.libc === libc;
  });
}

/** The crates whose tests are about the system. */
export const crates = ["tenon-code", "tenon-memory", "tenon-trusted-folder", "tenon-snapshot", "tenon-runtime"];
