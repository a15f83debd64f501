// Builds the addon for another system, or checks its code:
//
//   node scripts/cross/build.mjs <target>... [--profile dist | dev] [--command build | check | clippy] [--server] [--tests <packages>]
//                                [-- <cargo's arguments>]
//
// A target is a row of targets.mjs. The addon goes to its package, bindings/npm/<target>/. `--server` builds the program
// `tenon-server` instead, into target/cross-server/<target>/; for musl it is linked statically. `--tests tenon-code,tenon-memory` builds the unit
// tests of these packages, into target/cross-tests/<target>/, and is meant for `--profile dev`. Compiled code is kept in
// CARGO_TARGET_DIR, by default target/cross. The same sources give the same bytes wherever the tree and the caches are.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fail, root, run, say } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";
import { inspect } from "./inspect.mjs";
import { addonOf, checkTargets, packageOf, serverOf, targets } from "./targets.mjs";
import { python, rust, tools, zig } from "./tools.mjs";

const { values, positionals } = argumentsOf(import.meta.url, {
  options: {
    profile: { type: "string", default: "dist" },
    command: { type: "string", default: "build" },
    server: { type: "boolean", default: false },
    tests: { type: "string" },
  },
  allowPositionals: true,
});
const given = process.argv.slice(2);
const rest = given.includes("--") ? given.slice(given.indexOf("--") + 1) : [];
const wanted = positionals.slice(0, positionals.length - rest.length);
checkTargets(wanted);
for (const [option, all] of Object.entries({ profile: ["dist", "dev"], command: ["build", "check", "clippy"] }))
  if (!all.includes(values[option])) fail(`--${option} must be one of ${all.join(", ")}`);

const compiled = resolve(process.env.CARGO_TARGET_DIR ?? join(root, "target/cross"));
const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");

/** Folders of this machine, and the names that they have in the result. The compilers use the last that fits. */
const names = [
  [cargoHome, "cargo"],
  ["/usr/lib/rustlib/src/rust", "rust"],
  [resolve(root), "."],
  [compiled, "target"],
];

/** The addon and the program, which are checked together. */
const both = ["--package", "tenon-bindings", "--package", "tenon-server"];

await zig();
for (const name of wanted) await build(name);

async function build(name) {
  const target = targets[name];
  const family = await import(`./${target.family}.mjs`);
  const prepared = { usesZig: true, ...(await family.prepare(target)) };
  const what = values.tests === undefined ? (values.server ? "tenon-server" : "the addon") : "tests";
  say(`${values.command} ${what} for ${name}`);
  if (values.command === "clippy") Object.assign(prepared.environment, clippy(prepared));
  const cargo = (verb, before, after = []) => run(...commandOf(target, prepared, verb, before, after));
  if (values.command !== "build") return void cargo("check", both);
  if (values.tests !== undefined) return tests(name, target, prepared);

  // A static program and a shared library of musl differ in flags of the last crate alone. zig brings the objects of a start.
  if (values.server && target.libc === "musl")
    cargo("rustc", packages(), ["-Ctarget-feature=+crt-static", "-Clink-self-contained=no"]);
  else cargo("build", packages());
  const made = join(compiled, target.rust, values.profile === "dev" ? "debug" : values.profile);
  if (values.server) {
    keep(join(made, basename(serverOf(name))), join(root, serverOf(name)));
  } else {
    keep(join(made, libraryOf(target)), join(root, packageOf(name), addonOf(name)));
    inspect(name);
  }
}

function packages() {
  return values.server ? ["--package", "tenon-server", "--bin", "tenon-server"] : ["--package", "tenon-bindings"];
}

/** Variables with which `cargo check` runs clippy. `cargo clippy` would start rustup's program, which is for another compiler. */
function clippy({ lints = [] }) {
  const driver = "/usr/bin/clippy-driver";
  if (!existsSync(driver)) fail("clippy for other systems needs Debian's: apt-get install rust-web-clippy");
  return { RUSTC_WORKSPACE_WRAPPER: driver, CLIPPY_ARGS: ["-Dwarnings", ...lints, ""].join("__CLIPPY_HACKERY__") };
}

/** Builds the unit tests of packages. Their programs have a hash in their names. */
function tests(name, target, prepared) {
  const chosen = values.tests.split(",").flatMap((each) => ["--package", each]);
  const args = [...chosen, "--lib", "--no-run", "--message-format", "json-render-diagnostics"];
  const [program, given, options] = commandOf(target, prepared, "test", args);
  const { status, stdout } = spawnSync(program, given, {
    ...options,
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 30,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) fail("the tests must compile");
  for (const line of stdout.split("\n").filter((each) => each.includes('"executable":"'))) {
    const { executable, target: made } = JSON.parse(line);
    keep(executable, join(root, "target/cross-tests", name, made.name));
  }
}

/** The command of cargo, and how it is run. */
function commandOf(target, { usesZig, environment, rustflags }, verb, before, after = []) {
  const { rustc, cargo } = rust();
  // Checking writes no file with paths, and is as good for a tree in another place.
  const mapped = verb === "check" ? [] : names;
  const env = {
    ...process.env,
    PATH: `${python}:/usr/bin:/bin`,
    CARGO: cargo,
    RUSTC: rustc,
    // Compiling the standard library is not stable, and this compiler is.
    RUSTC_BOOTSTRAP: "1",
    CARGO_TARGET_DIR: compiled,
    CARGO_ZIGBUILD_CACHE_DIR: join(tools, "zigbuild"),
    ZIG_GLOBAL_CACHE_DIR: join(tools, "zig"),
    RUSTFLAGS: [...rustflags, ...mapped.map(([from, to]) => `--remap-path-prefix=${from}=${to}`)].join(" "),
    [`CFLAGS_${target.rust.replaceAll("-", "_")}`]: mapped
      .map(([from, to]) => `-ffile-prefix-map=${from}=${to}`)
      .join(" "),
    ...environment,
  };
  // rustup's programs would take the toolchain that this names.
  delete env.RUSTUP_TOOLCHAIN;

  const args = [usesZig && verb === "build" ? "zigbuild" : verb, "--locked", "--profile", values.profile];
  // Tests compile packages with the same features and beside the same libraries as the addon has here, and so once.
  const isShared = values.profile === "dev";
  const std = `-Zbuild-std=std,panic_unwind${isShared ? ",test" : ""}`;
  args.push("--target", usesZig ? target.zig : target.rust, std, ...before, ...rest);
  if (isShared) args.push("-Zfeature-unification", "--config", 'resolver.feature-unification="workspace"');
  if (after.length > 0) args.push("--", ...after);
  return [usesZig ? "cargo-zigbuild" : cargo, args, { env }];
}

function keep(made, place) {
  mkdirSync(dirname(place), { recursive: true });
  copyFileSync(made, place);
  console.log(place);
}

/** The name that cargo gives the library. */
function libraryOf({ os }) {
  if (os === "win32") return "tenon_bindings.dll";
  return `libtenon_bindings.${os === "darwin" ? "dylib" : "so"}`;
}
