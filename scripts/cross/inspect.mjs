// What a built addon promises to the system that loads it:
//
//   node scripts/cross/inspect.mjs <target>...
//
// A file for Linux needs no symbol of glibc after 2.28 and no library but the C library's; a file for musl none of glibc's. No file has a
// path of this machine in it.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, root } from "../setup.mjs";
import { addonOf, packageOf, targets } from "./targets.mjs";

/** The oldest glibc: Debian 10, RHEL 8. */
const GLIBC = [2, 28];

const machines = { x64: "Advanced Micro Devices X86-64", arm64: "AArch64" };

/** Returns the path of a target's addon. */
export const builtAddon = (name) => join(root, packageOf(name), addonOf(name));

/** Refuses a file that does not hold what its target promises. Returns figures: `{ bytes, glibc }`. */
export function inspect(name, file = builtAddon(name)) {
  const target = targets[name];
  refusePaths(file);
  const figures = { bytes: statSync(file).size };
  if (target.os !== "linux") return figures;
  const read = (...args) => execFileSync("readelf", [...args, "-W", file], { encoding: "utf8", maxBuffer: 1 << 28 });
  const expect = (holds, what) => holds || fail(`${file} must ${what}`);
  expect(read("-h").includes(machines[target.cpu]), `be for ${target.cpu}`);

  const dynamic = read("-d");
  const libraries = [...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, library]) => library);
  const isOwn = (library) =>
    target.libc === "musl"
      ? library === "libc.so"
      : /^(?:lib(?:c|m|dl|rt|pthread|util)\.so\.\d|ld-linux-[a-z0-9-]+\.so\.\d)$/.test(library);
  expect(libraries.length > 0 && libraries.every(isOwn), `need the C library alone, not ${libraries.join(", ")}`);
  expect(!/\((?:RPATH|RUNPATH)\)/.test(dynamic), "name no folder of libraries");
  expect(!dynamic.includes("TEXTREL"), "have no relocations in its code");

  const versions = [...read("-V").matchAll(/Name: GLIBC_(\d+)\.(\d+)/g)].map(([, major, minor]) => [+major, +minor]);
  const newest = versions.sort((one, other) => one[0] - other[0] || one[1] - other[1]).at(-1);
  if (target.libc === "musl") expect(newest === undefined, "have no symbol of glibc");
  else
    expect(
      newest !== undefined && newest[0] === GLIBC[0] && newest[1] <= GLIBC[1],
      `need glibc ${GLIBC.join(".")} at most, not ${newest?.join(".")}`,
    );
  return { ...figures, glibc: newest?.join(".") };
}

/** Refuses a file that has a path of this machine in it: it would differ on the next one. */
function refusePaths(file) {
  const content = readFileSync(file);
  const folders = [homedir(), root, process.env.CARGO_HOME, process.env.CARGO_TARGET_DIR];
  for (const folder of folders.filter((each) => each !== undefined).map((each) => join(each, "/")))
    if (folder !== "/" && content.includes(folder))
      fail(`${file} must not have a path of this machine in it: ${folder}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
  for (const name of process.argv.slice(2)) console.log(name, JSON.stringify(inspect(name)));
