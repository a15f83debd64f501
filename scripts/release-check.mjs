// Packs every package as it would be published, installs it into an empty folder with nothing of Rust on the PATH, and goes a
// newcomer's way there. Prints what it came to: installed sizes, packages, and times of the first build and the first start.
//
//   npm run release:check -- [--dist | --built] [--keep] [--record]
//
// Addons of other platforms and programs of static images, which scripts/cross/build.mjs has built, are inspected and measured.
// `--dist` builds the addon and the engine as a release has them first; otherwise those that are there are packed,
// and with `--built` they are a release's, which other machines made. `--keep` leaves
// the tarballs in target/release-check/, and `--record` writes what was measured into bench/RESULTS.md.
import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { conditions, record } from "../bench/results.mjs";
import { builtAddon, inspect } from "./cross/inspect.mjs";
import { addonOf, hostTarget, serverOf, suffixOf, targets } from "./cross/targets.mjs";
import { publishedName } from "./names.mjs";
import { pack } from "./packed.mjs";
import { fail, root, run, say, setUp, started } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";
import { releasable } from "./version.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    dist: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});

/** The most that may be installed, in MB. The image has the parser of PostgreSQL and one compiled component. */
const most = { addon: 40, serving: 53, building: 83, image: 45 };

/** The longest that a first build and a first start of compiled code may take, in milliseconds. */
const longest = { build: 3000, start: 1000 };

const { version } = releasable();

const host = hostTarget() ?? fail("this platform must be one of scripts/cross/targets.mjs");
if (values.dist) buildAsReleased();
else if (!values.built) await setUp();
run("npm", ["run", "build", "--silent"]);
say("Preparing the engine that is shipped");
const packing = values.built ? ["--check"] : values.dist ? [] : ["--if-stale"];
run(process.execPath, ["cli/scripts/pack-engine.mjs", ...packing]);

say("Packing");
const packed = join(root, "target/release-check");
rmSync(packed, { recursive: true, force: true });
const platform = `@tenon/native-${suffixOf(host)}`;
const tarballs = pack({ [suffixOf(host)]: join(root, "bindings", addonOf(host)) }, packed, version);
const built = Object.keys(targets).filter((name) => existsSync(builtAddon(name)));
const inspected = built.map((name) => ({ name, ...inspect(name) }));
const programs = Object.keys(targets).filter(
  (name) => targets[name].libc === "musl" && existsSync(join(root, serverOf(name))),
);

const folder = mkdtempSync(join(tmpdir(), "tenon-release-"));
const isWindows = process.platform === "win32";
const PATH = isWindows
  ? [dirname(process.execPath), join(process.env.SystemRoot, "System32")].join(";")
  : pathWithoutRust();
// npm needs the folders of the user, and each program on Windows the system's.
const kept = isWindows ? ["SystemRoot", "ComSpec", "TEMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"] : ["HOME"];
const user = Object.fromEntries([...kept, "NODE_EXTRA_CA_CERTS"].map((name) => [name, process.env[name]]));
// The same sources give the same bytes when the time of the build is the same.
const SOURCE_DATE_EPOCH = "1700000000";
const environment = { ...user, PATH, SOURCE_DATE_EPOCH, TENON_CACHE_DIR: join(folder, "cache") };
const report = {};
try {
  const serving = install("serving", ["tenon", "@tenon/native", platform]);
  const refused = failureOf(() => tenon(serving, ["build"], serving));
  expect(
    refused.includes(`npm install --save-dev ${publishedName("@tenon/build")}`),
    `without @tenon/build it says: ${refused}`,
  );
  expect(tenon(serving, ["--version"], serving).includes(version), "--version");

  const building = install("building", Object.keys(tarballs));
  tenon(building, ["new", "demo"], building);
  const project = join(building, "demo");
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  expect(publishedName("@tenon/build") in manifest.devDependencies, "a new project depends on @tenon/build");

  say("Building, and serving what was built with what only serves");
  report.firstBuildMs = time(() => tenon(building, ["build", "-r"], project));
  report.secondBuildMs = time(() => tenon(building, ["build", "-r"], project));
  const component = join(project, "dist/demo.wasm");
  const fromPackage = readFileSync(component);
  // A client starts it outside of the project; its input ends at once.
  tenon(building, ["mcp", "--project", project], building);
  tenon(serving, ["compile", component, "-o", join(serving, "demo.cwasm")], serving);
  const grammar = join(serving, "node_modules/libpg-query/wasm/libpg-query.wasm");
  report.besidesProgram = size(join(serving, "demo.cwasm")) + size(grammar);
  rmSync(environment.TENON_CACHE_DIR, { recursive: true, force: true });
  const starts = [];
  for (let i = 0; i < 5; i++) starts.push(await serve(serving, ["run", "demo.cwasm", "--trust-compiled"]));
  report.firstStartMs = starts.sort((one, other) => one - other)[2];
  report.firstStartCompilingMs = await serve(serving, ["run", component]);

  say("Building with an engine that is compiled here");
  rmSync(join(building, "node_modules", publishedName("@tenon/engine")), { recursive: true });
  rmSync(environment.TENON_CACHE_DIR, { recursive: true, force: true });
  tenon(building, ["build", "-r"], project);
  expect(readFileSync(component).equals(fromPackage), "an engine that is compiled here gives the same component");
} finally {
  rmSync(folder, { recursive: true, force: true });
  if (!values.keep) rmSync(packed, { recursive: true, force: true });
}

const row = (what, { megabytes, packages, milliseconds }) =>
  `| ${what} | ${megabytes} | ${packages} | ${milliseconds / 1000} |`;
const measured = [
  `${conditions}. The addon takes ${megabytes(size(join(root, "bindings", addonOf(host))))} MB; the caches are empty.`,
  "",
  "| installed | MB | packages | s |",
  "|---|---:|---:|---:|",
  row("`tenon`, which serves", report.serving),
  row("`tenon`, `@tenon/sdk` and `@tenon/build`", report.building),
  "",
  "| | ms |",
  "|---|---:|",
  `| first build | ${report.firstBuildMs} |`,
  `| second build | ${report.secondBuildMs} |`,
  `| first start to first answer, compiled ahead of time (median of five) | ${report.firstStartMs} |`,
  `| first start to first answer, compiling | ${report.firstStartCompilingMs} |`,
].join("\n");
for (const { name, bytes, glibc } of inspected)
  console.error(`${name}: ${megabytes(bytes)} MB${glibc === undefined ? "" : `, glibc ${glibc}`}`);
const images = programs.map((name) => ({ name, bytes: size(join(root, serverOf(name))) + report.besidesProgram }));
for (const { name, bytes } of images) console.error(`the image for ${name}: ${megabytes(bytes)} MB`);
if (values.record) record("release-check", measured);
else console.log(measured);
/** What is measured against a bound: its name, the figure, the bound and their unit. */
const bounded = [
  ...(values.dist || values.built
    ? ["serving", "building"].map((what) => [`${what} installs`, report[what].megabytes, most[what], "MB"])
    : []),
  ...(values.dist
    ? [
        ...inspected.map(({ name, bytes }) => [`the addon for ${name} has`, bytes / 1e6, most.addon, "MB"]),
        ...images.map(({ name, bytes }) => [`the image for ${name} has`, bytes / 1e6, most.image, "MB"]),
      ]
    : []),
  ["the first build took", report.firstBuildMs, longest.build, "ms"],
  ["the first start took", report.firstStartMs, longest.start, "ms"],
];
const over = bounded
  .filter(([, figure, bound]) => figure > bound)
  .map(
    ([what, figure, bound, unit]) =>
      `${what} ${Math.round(figure * 10) / 10} ${unit} (limit ${bound}${unit === "ms" ? ", on a machine that is not busy" : ""})`,
  );
if (values.keep) console.error(`the files: ${packed}`);
if (over.length > 0) fail(over.join("; "));

/** Builds the addon of this platform with the command of the release workflow, which needs Linux. */
function buildAsReleased() {
  if (process.platform !== "linux") return run("npm", ["run", "build:dist", "--silent", "-w", "@tenon/native"]);
  run(process.execPath, ["scripts/cross/build.mjs", host]);
  copyFileSync(builtAddon(host), join(root, "bindings", addonOf(host)));
}

function megabytes(bytes) {
  return Math.round(bytes / 1e6);
}

/** Installs packages from their tarballs into a folder of their own, and records sizes and times. */
function install(name, packages) {
  say(`Installing ${packages.join(", ")}`);
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, "package.json"), '{ "private": true }');
  const files = packages.map((each) => tarballs[each]);
  const milliseconds = time(() =>
    command("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...files], place),
  );
  const lock = JSON.parse(readFileSync(join(place, "node_modules/.package-lock.json"), "utf8"));
  report[name] = {
    megabytes: Math.round(size(join(place, "node_modules")) / 1e5) / 10,
    packages: Object.keys(lock.packages).length,
    milliseconds,
  };
  return place;
}

/** Starts a server, asks it once, and gives the milliseconds until it has answered. */
async function serve(place, args) {
  const began = performance.now();
  const server = spawn(process.execPath, [bin(place), ...args, "--port", "0", "--json", "-q"], {
    cwd: place,
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const { urls } = JSON.parse(await firstLine(server.stdout));
    const answer = await fetch(`${urls[0]}hello/Ada`);
    expect((await answer.json()).greeting === "Hello, Ada!", "the handler answers");
    return Math.round(performance.now() - began);
  } finally {
    server.kill();
  }
}

async function firstLine(stream) {
  for await (const line of createInterface(stream)) return line;
  throw new Error("the server ended");
}

function tenon(place, args, cwd) {
  return command(process.execPath, [bin(place), ...args], cwd);
}

function bin(place) {
  return join(place, "node_modules", publishedName("tenon"), "bin/tenon.js");
}

function command(program, args, cwd) {
  return execFileSync(...started(program, args), {
    cwd,
    env: environment,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function failureOf(act) {
  try {
    act();
  } catch (error) {
    return error.stderr;
  }
  return "nothing";
}

function expect(holds, what) {
  if (!holds) throw new Error(`this does not hold: ${what}`);
}

function time(act) {
  const began = performance.now();
  act();
  return Math.round(performance.now() - began);
}

/** Bytes of the files in a folder. A file with several names, such as esbuild's program after its installation, is there once. */
function size(path, seen = new Set()) {
  // Symbolic links are counted where they lead.
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.nlink > 1 && !stats.isDirectory() && seen.has(stats.ino))) return 0;
  seen.add(stats.ino);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path).reduce((sum, name) => sum + size(join(path, name), seen), 0);
}

/** A folder with everything on the PATH except Rust's programs. */
function pathWithoutRust() {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const seen = new Set();
  for (const from of [dirname(process.execPath), "/usr/bin", "/bin"])
    for (const name of readdirSync(from)) {
      if (seen.has(name) || /^(cargo|rust|clippy|wasm)/.test(name)) continue;
      seen.add(name);
      symlinkSync(join(from, name), join(bin, name));
    }
  return bin;
}
