// Programs and files that building for another system needs, from Debian's and PyPI's packages by name. All of it is in
// $XDG_CACHE_HOME/tenon-ci/cross; nothing of the machine changes, except for Debian's compiler of Rust, which has to be installed.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fail, run, say } from "../setup.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** The folder with all tools, outside of the tree. */
export const tools = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "tenon-ci/cross");

/** Programs of the Python environment: `cargo-zigbuild`, `python-zig`. */
export const python = join(tools, "python/bin");

/**
 * The path of something in the cache. It is made once for each `recipe`, a text that changes when the result has to be another:
 * `make` gets a new folder, which takes its place in the cache only when `make` returns.
 */
export async function cached(name, recipe, make) {
  const place = join(tools, name);
  const note = join(place, ".recipe");
  const digest = createHash("sha256").update(recipe).digest("hex");
  if (existsSync(note) && readFileSync(note, "utf8") === digest) return place;
  say(`Preparing ${name}`);
  const partial = `${place}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  await make(partial);
  writeFileSync(join(partial, ".recipe"), digest);
  rmSync(place, { recursive: true, force: true });
  renameSync(partial, place);
  return place;
}

/** The compilers of C and the linker: zig, and cargo-zigbuild, which calls it. */
export async function zig() {
  const pinned = join(here, "python.txt");
  const place = join(tools, "python");
  const recipe = readFileSync(pinned, "utf8");
  const note = join(place, ".recipe");
  if (existsSync(note) && readFileSync(note, "utf8") === recipe) return;
  // An environment has its own path in its programs, so it cannot be renamed.
  say("Preparing python");
  run("python3", ["-m", "venv", "--clear", place]);
  const arguments_ = ["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps"];
  run(join(python, "pip"), [...arguments_, "--require-hashes", "-r", pinned]);
  writeFileSync(note, recipe);
}

/** The path of a file in a wheel of PyPI, which is downloaded for another system and unpacked. */
export async function wheel(name, version, platform) {
  await zig();
  return cached(`wheels/${name}-${version}-${platform}`, "2", (folder) => {
    const arguments_ = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
    run(join(python, "pip"), [...arguments_, "--platform", platform, "--dest", folder, `${name}==${version}`]);
    const [file] = readdirSync(folder);
    execFileSync("python3", ["-m", "zipfile", "-e", join(folder, file), folder]);
    rmSync(join(folder, file));
    // The archive's modes get lost.
    execFileSync("chmod", ["-R", "a+rx", folder]);
  });
}

/**
 * A folder with the files of Debian's packages, unpacked without installing them: `{ suite, architecture, packages }`, where a package is a
 * name. A state of apt that belongs to the cache leaves this machine's alone, so another suite and another architecture can be asked.
 */
export async function debian(name, { suite = "bookworm", architecture = "amd64", packages }) {
  return cached(name, JSON.stringify([suite, architecture, packages]), (folder) => {
    const options = aptOptions(suite);
    const names = packages.map((each) => `${each}:${architecture}`);
    run("apt-get", [...options, "download", "-qq", ...names], { cwd: folder });
    for (const file of readdirSync(folder).filter((each) => each.endsWith(".deb"))) {
      execFileSync("dpkg-deb", ["-x", join(folder, file), folder], { stdio: "inherit" });
      rmSync(join(folder, file));
    }
  });
}

/** Options of apt-get for a suite, with lists of its own in the cache. The mirror is this machine's. */
function aptOptions(suite) {
  const state = join(tools, "apt", suite);
  const options = [
    "-o=APT::Architectures::=amd64",
    "-o=APT::Architectures::=arm64",
    `-o=Dir::Etc::SourceList=${join(state, "sources.list")}`,
    "-o=Dir::Etc::SourceParts=/dev/null",
    `-o=Dir::State::Lists=${join(state, "lists")}`,
    `-o=Dir::Cache=${join(state, "cache")}`,
    "-o=APT::Sandbox::User=root",
  ];
  if (!existsSync(join(state, "ready"))) {
    for (const each of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(state, each), { recursive: true });
    const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    writeFileSync(join(state, "sources.list"), `deb [signed-by=${keyring}] ${debianMirror()} ${suite} main\n`);
    run("apt-get", [...options, "update", "-qq"]);
    writeFileSync(join(state, "ready"), "");
  }
  return options;
}

/** The mirror that this machine's apt uses. */
function debianMirror() {
  const { stdout } = spawnSync("apt-get", ["indextargets", "--format", "$(SITE) $(REPO_URI)", "Created-By: Packages"], {
    encoding: "utf8",
  });
  const uri = stdout
    ?.split("\n")
    .map((line) => line.split(" ")[1])
    .find((each) => each !== undefined && /\/debian\/?$/.test(each));
  return uri ?? fail("apt-get names no mirror of Debian; cross-building needs Debian");
}

/** The compiler of Rust with the source of its standard library. rustup's targets are not available everywhere. */
export function rust() {
  const [rustc, cargo, source] = [
    "/usr/bin/rustc",
    "/usr/bin/cargo",
    "/usr/lib/rustlib/src/rust/library/std/Cargo.toml",
  ];
  if (![rustc, cargo, source].every((file) => existsSync(file)))
    fail("cross-building needs Debian's Rust: apt-get install rustc-web cargo-web rust-web-src");
  return { rustc, cargo };
}
