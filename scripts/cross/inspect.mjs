// Checks that a built addon keeps its promises to the system that loads it:
//
//   node scripts/cross/inspect.mjs <target>...
//
// A file for Linux needs no symbol of glibc after 2.28 and no library but the C library's; a file for musl none of glibc's. A file for macOS
// runs on version 11, is signed and needs the system's libraries alone, and so does one for Windows. No file has a path of this machine in it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, root } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";
import { OLDEST } from "./darwin.mjs";
import { addonOf, checkTargets, packageOf, targets } from "./targets.mjs";

/** The oldest glibc: Debian 10, RHEL 8. */
const GLIBC = [2, 28];

const machines = { x64: "Advanced Micro Devices X86-64", arm64: "AArch64" };

/** Returns the path of a target's addon. */
export const builtAddon = (name) => join(root, packageOf(name), addonOf(name));

/** Refuses a file that does not hold what its target promises. Returns figures: `{ bytes, glibc }`. */
export function inspect(name, file = builtAddon(name)) {
  const target = targets[name];
  if (!existsSync(file)) fail(`${name} must be built first: node scripts/cross/build.mjs ${name}`);
  refusePaths(file);
  const figures = { bytes: statSync(file).size };
  if (target.os === "darwin") return { ...figures, ...inspectMacos(file) };
  if (target.os === "win32") return { ...figures, ...inspectWindows(file) };
  const read = (...args) => output("readelf", "binutils", [...args, "-W", file]);
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

/** Refuses a file that does not load on macOS 11. arm64 loads no file without a signature. */
function inspectMacos(file) {
  const headers = dump("--macho", "--private-headers", file);
  const [, oldest] = /LC_BUILD_VERSION[\s\S]*?minos (\S+)/.exec(headers) ?? [];
  if (oldest !== OLDEST) fail(`${file} must run on macOS ${OLDEST}, not ${oldest}`);
  const isSigned = headers.includes("LC_CODE_SIGNATURE");
  if (/cputype ARM64|ARM64/.test(headers) && !isSigned) fail(`${file} must be signed`);
  const libraries = [...headers.matchAll(/LC_LOAD_(?:WEAK_)?DYLIB[\s\S]*?name (\S+)/g)].map(([, library]) => library);
  const others = libraries.filter((library) => !/^\/(?:usr\/lib|System\/Library\/Frameworks)\//.test(library));
  if (libraries.length === 0 || others.length > 0)
    fail(`${file} must need the system's libraries alone, not ${others}`);
  return { oldest, isSigned, libraries };
}

/** The libraries of Windows 10 that the addon may need. Node exports its functions itself. */
const windows = new Set([
  ..."advapi32 bcrypt bcryptprimitives combase crypt32 dbghelp iphlpapi kernel32 msvcrt ncrypt ntdll ole32 secur32 shell32".split(
    " ",
  ),
  ..."user32 userenv ws2_32".split(" "),
]);

/** Refuses a file that needs a library beside the system's, such as MinGW's. */
function inspectWindows(file) {
  const libraries = [...dump("--private-headers", file).matchAll(/DLL Name: (\S+)/g)].map(([, name]) =>
    name.toLowerCase(),
  );
  const isOwn = (name) =>
    name === "node.exe" || name.startsWith("api-ms-win-") || windows.has(name.replace(/\.dll$/, ""));
  const others = libraries.filter((name) => !isOwn(name));
  if (libraries.length === 0 || others.length > 0)
    fail(`${file} must need the system's libraries alone, not ${others}`);
  return { libraries: [...new Set(libraries)].sort() };
}

function dump(...args) {
  return output("/usr/bin/llvm-objdump-19", "llvm-19", args);
}

/** The output of a program, which one of Debian's packages has. */
function output(program, debian, args) {
  try {
    return execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  } catch (error) {
    if (error.code === "ENOENT") fail(`${program} is not installed: apt-get install ${debian}`);
    throw error;
  }
}

/** Refuses a file that has a path of this machine in it: it would differ on the next one. */
function refusePaths(file) {
  const content = readFileSync(file);
  const folders = [homedir(), root, process.env.CARGO_HOME, process.env.CARGO_TARGET_DIR];
  for (const folder of folders.filter((each) => each !== undefined).map((each) => join(each, "/")))
    if (folder !== "/" && content.includes(folder))
      fail(`${file} must not have a path of this machine in it: ${folder}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { positionals } = argumentsOf(import.meta.url, { allowPositionals: true });
  checkTargets(positionals);
  for (const name of positionals) console.log(name, JSON.stringify(inspect(name)));
}
