// macOS: stubs of the frameworks that the addon links. They are text files that name a library of the system and the symbols that crates
// declare of it. No file of Apple's is needed to link, because the system has the libraries.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fail, root } from "../setup.mjs";
import { cached, python } from "./tools.mjs";

/** The oldest version that the addon runs on. */
export const OLDEST = "11.0";

const LLVM_OBJCOPY = "/usr/bin/llvm-objcopy-19";

/** Frameworks, the crate that declares each, and the beginnings of its symbols. */
const frameworks = [
  ["CoreFoundation", "core-foundation-sys", "k?CF"],
  ["Security", "security-framework-sys", "(?:k?Sec|k?SSL|k?CMS|k?Auth|k?Cms|errSec)"],
];

/** Returns how cargo builds for a target: `{ environment, rustflags }`. */
export async function prepare() {
  const [folder, programs] = [await stubs(), await objcopy()];
  return {
    environment: {
      MACOSX_DEPLOYMENT_TARGET: OLDEST,
      PATH: `${programs}:${python}:/usr/bin:/bin`,
      // The linker strips the addon before it signs it. rustc would strip it afterwards, as it does with libraries of packages.
      CARGO_PROFILE_DEV_STRIP: "none",
      CARGO_PROFILE_DIST_STRIP: "none",
    },
    rustflags: [`-Lframework=${folder}`, "-Clink-arg=-Wl,-S,-x"],
  };
}

/** A folder with the program that rustc strips with, which Debian names differently. */
function objcopy() {
  return cached("objcopy", LLVM_OBJCOPY, (folder) => symlinkSync(LLVM_OBJCOPY, join(folder, "rust-objcopy")));
}

function stubs() {
  const crates = frameworks.map(([, crate]) => crateFolder(crate));
  return cached("frameworks", JSON.stringify([frameworks, crates.map((each) => each.split("/").at(-1))]), (folder) => {
    for (const [index, [name, , start]] of frameworks.entries()) {
      const place = join(folder, `${name}.framework`);
      mkdirSync(place);
      writeFileSync(join(place, `${name}.tbd`), stub(name, namesIn(crates[index], start)));
    }
  });
}

function stub(name, names) {
  const symbols = names.map((each) => `_${each}`).join(", ");
  return `--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/System/Library/Frameworks/${name}.framework/Versions/A/${name}'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ ${symbols} ]
...
`;
}

/** The names of functions and statics that a crate declares. */
function namesIn(folder, start) {
  const declared = new RegExp(`pub (?:fn|static(?: mut)?) (${start}[A-Za-z0-9_]*)`, "g");
  const files = readdirSync(join(folder, "src"), { recursive: true }).filter((each) => each.endsWith(".rs"));
  const texts = files.map((each) => readFileSync(join(folder, "src", each), "utf8"));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(declared)].map(([, name]) => name)))].sort();
}

/** The folder of a crate's sources, in the version of the lock file. */
function crateFolder(name) {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const [, version] =
    new RegExp(`name = "${name}"\nversion = "([^"]+)"`).exec(lock) ?? fail(`Cargo.lock must have ${name}`);
  const home = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const find = () => {
    const registries = join(home, "registry/src");
    if (!existsSync(registries)) return undefined;
    return readdirSync(registries)
      .map((each) => join(registries, each, `${name}-${version}`))
      .find((each) => existsSync(each));
  };
  if (find() === undefined) execFileSync("cargo", ["fetch", "--locked"], { cwd: root, stdio: "inherit" });
  return find() ?? fail(`cargo must have fetched ${name} ${version}`);
}
