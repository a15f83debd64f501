// Builds the addon for another system, or checks its code:
//
//   node scripts/cross/build.mjs <target>... [--profile dist | dev] [--command build | check | clippy] [--server] [-- <cargo's arguments>]
//
// A target is a row of targets.mjs. The addon goes to its package, bindings/npm/<target>/. `--server` builds the program
// `tenon-server` instead, into target/cross-server/<target>/; for musl it is linked statically. Compiled code is kept in
// CARGO_TARGET_DIR, by default target/cross. The same sources give the same bytes wherever the tree and the caches are.
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fail, root, run, say } from "../setup.mjs";
import { addonOf, packageOf, targets } from "./targets.mjs";
import { python, rust, tools, zig } from "./tools.mjs";

const { values, positionals } = parseArgs({
  options: {
    profile: { type: "string", default: "dist" },
    command: { type: "string", default: "build" },
    server: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const given = process.argv.slice(2);
const rest = given.includes("--") ? given.slice(given.indexOf("--") + 1) : [];
const wanted = positionals.slice(0, positionals.length - rest.length);
if (wanted.length === 0) fail(`name a target: ${Object.keys(targets).join(", ")}`);
for (const name of wanted) if (!(name in targets)) fail(`${name} must be one of ${Object.keys(targets).join(", ")}`);

const compiled = resolve(process.env.CARGO_TARGET_DIR ?? join(root, "target/cross"));
const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");

/** Folders of this machine, and the names that they have in the result. The compilers use the last that fits. */
const names = [
  [cargoHome, "cargo"],
  ["/usr/lib/rustlib/src/rust", "rust"],
  [resolve(root), "."],
  [compiled, "target"],
];

await zig();
for (const name of wanted) await build(name);

async function build(name) {
  const target = targets[name];
  const { rustc, cargo } = rust();
  const { prepare } = await import(`./${target.family}.mjs`);
  const { environment, rustflags, usesZig = true } = await prepare(target);
  const isStatic = values.server && target.libc === "musl";

  const underscored = target.rust.replaceAll("-", "_");
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
    RUSTFLAGS: [...rustflags, ...names.map(([from, to]) => `--remap-path-prefix=${from}=${to}`)].join(" "),
    [`CFLAGS_${underscored}`]: names.map(([from, to]) => `-ffile-prefix-map=${from}=${to}`).join(" "),
    ...environment,
  };
  // rustup's programs would take the toolchain that this names.
  delete env.RUSTUP_TOOLCHAIN;

  // A static program and a shared library of musl differ in one flag, which is the last crate's alone.
  const command = isStatic && values.command === "build" ? "rustc" : values.command;
  const verb = usesZig && command === "build" ? "zigbuild" : command;
  const what = values.server ? ["--package", "tenon-server", "--bin", "tenon-server"] : ["--package", "tenon-bindings"];
  const args = [verb, "--locked", "--target", usesZig ? target.zig : target.rust, "--profile", values.profile];
  args.push("-Zbuild-std=std,panic_unwind", ...what, ...rest);
  // Tests of the workspace compile these packages with the same features, and so once.
  if (values.profile === "dev")
    args.push("-Zfeature-unification", "--config", 'resolver.feature-unification="workspace"');
  if (command === "rustc") args.push("--", "-Ctarget-feature=+crt-static");
  say(`${values.command} ${values.server ? "tenon-server" : "the addon"} for ${name}`);
  run(usesZig ? "cargo-zigbuild" : cargo, args, { env });
  if (values.command !== "build") return;

  const made = join(compiled, target.rust, values.profile === "dev" ? "debug" : values.profile);
  const [file, place] = values.server
    ? [`tenon-server${target.os === "win32" ? ".exe" : ""}`, join(root, "target/cross-server", name)]
    : [libraryOf(target), join(root, packageOf(name))];
  const result = join(place, values.server ? file : addonOf(name));
  mkdirSync(dirname(result), { recursive: true });
  copyFileSync(join(made, file), result);
  refusePaths(result);
  console.log(result);
}

/** The name that cargo gives the library. */
function libraryOf({ os }) {
  if (os === "win32") return "tenon_bindings.dll";
  return `libtenon_bindings.${os === "darwin" ? "dylib" : "so"}`;
}

/** Refuses a file that has a path of this machine in it: it would differ on the next one. */
function refusePaths(file) {
  const content = readFileSync(file);
  for (const folder of [homedir(), cargoHome, compiled, root].map((each) => join(each, "/")))
    if (folder !== "/" && content.includes(folder))
      fail(`${file} must not have a path of this machine in it: ${folder}`);
}
