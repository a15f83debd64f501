// Publishes the version that the manifests have, from what the platforms' jobs of the release workflow made:
//
//   node scripts/publish.mjs <folder> [--dry-run]    publishes all packages, those of the platforms first
//   node scripts/publish.mjs --notes                 prints what CHANGELOG.md says about the version
//
// The folder has one folder for each platform, with the addon and its engine. `--dry-run` packs and uploads nothing.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fail, root, run, say } from "./setup.mjs";
import { published, releasable } from "./version.mjs";

const { values, positionals } = parseArgs({
  options: { "dry-run": { type: "boolean", default: false }, notes: { type: "boolean", default: false } },
  allowPositionals: true,
});

const { version, changes } = releasable();
if (values.notes) {
  console.log(changes);
  process.exit();
}
const [folder] = positionals;
if (folder === undefined) fail("name the folder with what the platforms' jobs made");

const platforms = readdirSync(resolve(folder));
if (platforms.length === 0) fail(`${folder} is empty`);
const engines = join(root, "cli/engine/engines");
rmSync(engines, { recursive: true, force: true });
mkdirSync(engines, { recursive: true });
const packages = [];
const temporary = mkdtempSync(join(tmpdir(), "tenon-publish-"));
try {
  for (const platform of platforms) {
    const found = filesIn(resolve(folder, platform));
    const addon = found.find((file) => file.endsWith(`tenon.${platform}.node`)) ?? fail(`${platform} has no addon`);
    for (const engine of found.filter((file) => file.endsWith(".br")))
      copyFileSync(engine, join(engines, engine.split("/").at(-1)));
    const place = join(temporary, platform);
    cpSync(join(root, "bindings/npm", platform), place, { recursive: true });
    copyFileSync(addon, join(place, `tenon.${platform}.node`));
    packages.push(place);
  }
  // The main package of the addon names those of the platforms, and has no addon itself.
  const main = join(temporary, "native");
  mkdirSync(main);
  const manifest = JSON.parse(readFileSync(join(root, "bindings/package.json"), "utf8"));
  const { scripts: _scripts, devDependencies: _tools, ...kept } = manifest;
  const optionalDependencies = Object.fromEntries(platforms.map((platform) => [`@tenon/native-${platform}`, version]));
  const files = kept.files.filter((file) => file !== "*.node");
  writeFileSync(join(main, "package.json"), `${JSON.stringify({ ...kept, files, optionalDependencies }, null, 2)}\n`);
  for (const file of files)
    if (existsSync(join(root, "bindings", file))) copyFileSync(join(root, "bindings", file), join(main, file));
  packages.push(main, ...published.filter((each) => each !== "bindings").map((each) => join(root, each)));
  for (const each of packages) {
    say(`Publishing ${JSON.parse(readFileSync(join(each, "package.json"), "utf8")).name} ${version}`);
    const how = values["dry-run"] ? ["--dry-run"] : ["--provenance"];
    run("npm", ["publish", "--access", "public", ...how], { cwd: each });
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function filesIn(at) {
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
