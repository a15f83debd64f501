// The version of everything, by one command:
//
//   node scripts/version.mjs 0.2.0     writes it into every manifest, both lock files and CHANGELOG.md
//   node scripts/version.mjs --check   fails unless all of them agree
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, root } from "./setup.mjs";

/** The folders of the packages that are published, in the order in which they depend on each other. */
export const published = ["bindings", "ts-sdk", "cli/engine", "cli/build", "cli"];

/** The folders of packages that are parts of published ones. */
const parts = ["guest"];

const platforms = readdirSync(join(root, "bindings/npm")).map((name) => `bindings/npm/${name}`);
const examples = readdirSync(join(root, "examples")).map((name) => `examples/${name}`);
const own = /^(tenon|@tenon\/.*)$/;

/** The version in the root's manifest. */
function currentVersion() {
  return readJson("package.json").version;
}

/** Places with another version, as `file: its version`. */
function disagreements(version) {
  const found = [];
  for (const folder of [".", ...published, ...parts, ...platforms]) {
    const manifest = readJson(join(folder, "package.json"));
    if (manifest.version !== version) found.push(`${folder}/package.json: ${manifest.version}`);
  }
  for (const folder of [...published, ...parts, ...examples]) {
    eachOwn(readJson(join(folder, "package.json")), (name, range) => {
      if (range.replace("^", "") !== version) found.push(`${folder}/package.json: ${name} ${range}`);
    });
  }
  const cargo = /^version = "([^"]+)"/m.exec(read("Cargo.toml"))?.[1];
  if (cargo !== version) found.push(`Cargo.toml: ${cargo}`);
  const lock = readJson("package-lock.json").packages;
  for (const folder of ["", ...published, ...parts])
    if (lock[folder].version !== version) found.push(`package-lock.json: ${folder} ${lock[folder].version}`);
  return found;
}

/** The part of CHANGELOG.md about a version; undefined when there is none. */
function changesOf(version) {
  const parts = read("CHANGELOG.md").split(/^## /m).slice(1);
  return parts
    .find((part) => part.startsWith(`${version} `))
    ?.replace(/^.*\n/, "")
    .trim();
}

/** The version that can be released, and the part of CHANGELOG.md about it. Ends the process when there is none. */
export function releasable() {
  const version = currentVersion();
  const changes = changesOf(version) ?? fail(`CHANGELOG.md says nothing about ${version}`);
  refuseDisagreements(version);
  return { version, changes };
}

function refuseDisagreements(version) {
  const found = disagreements(version);
  if (found.length > 0) fail(`not all is ${version}:\n  ${found.join("\n  ")}`);
}

function eachOwn(manifest, visit) {
  for (const kind of ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"])
    for (const [name, range] of Object.entries(manifest[kind] ?? {}))
      if (own.test(name)) {
        const other = visit(name, range);
        if (other !== undefined) manifest[kind][name] = other;
      }
}

function setVersion(version) {
  for (const folder of [".", ...published, ...parts, ...platforms, ...examples]) {
    const file = join(folder, "package.json");
    const manifest = readJson(file);
    if (!examples.includes(folder)) manifest.version = version;
    eachOwn(manifest, (_, range) => range.replace(/[0-9].*/, version));
    writeFileSync(join(root, file), `${JSON.stringify(manifest, null, 2)}\n`);
  }
  write("Cargo.toml", (text) => text.replace(/^version = "[^"]+"/m, `version = "${version}"`));
  const today = new Date().toISOString().slice(0, 10);
  write("CHANGELOG.md", (text) => text.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} (${today})`));
  const options = { cwd: root, stdio: "inherit" };
  execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"], options);
  execFileSync("cargo", ["update", "--workspace", "--offline"], options);
}

function read(file) {
  return readFileSync(join(root, file), "utf8");
}

function readJson(file) {
  return JSON.parse(read(file));
}

function write(file, change) {
  writeFileSync(join(root, file), change(read(file)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [wanted] = process.argv.slice(2);
  if (wanted === "--check") {
    refuseDisagreements(currentVersion());
  } else if (/^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/.test(wanted ?? "")) setVersion(wanted);
  else fail("name a version such as 0.2.0, or --check");
}
