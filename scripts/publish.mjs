// Publishes the version that the manifests have, from what the platforms' jobs of the release workflow made:
//
//   node scripts/publish.mjs <folder> [--dry-run]         publishes all packages, those of the platforms first
//   node scripts/publish.mjs <folder> --files <folder>    writes an archive for each platform, with all that an installation needs
//   node scripts/publish.mjs --notes                      prints what CHANGELOG.md says about the version
//
// The folder has one folder for each platform, with its addon, and `engines` with the engine's machine code for all of them. `--dry-run`
// packs and uploads nothing. TENON_SCOPE chooses the packages' scope (names.mjs).
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { suffixOf, targets } from "./cross/targets.mjs";
import { publishedName } from "./names.mjs";
import { pack } from "./packed.mjs";
import { fail, root, run, say } from "./setup.mjs";
import { addNotices } from "./third-party.mjs";
import { argumentsOf } from "./usage.mjs";
import { releasable } from "./version.mjs";

const { values, positionals } = argumentsOf(import.meta.url, {
  options: {
    "dry-run": { type: "boolean", default: false },
    notes: { type: "boolean", default: false },
    files: { type: "string" },
  },
  allowPositionals: true,
});

const { version, changes } = releasable();
if (values.notes) {
  console.log(changes);
  process.exit();
}
const [folder] = positionals;
if (folder === undefined) fail("name the folder with what the platforms' jobs made");

const given = readdirSync(resolve(folder));
if (!given.includes("engines")) fail(`${folder} must have the folder "engines"`);
const engines = join(root, "cli/engine/engines");
rmSync(engines, { recursive: true, force: true });
mkdirSync(engines, { recursive: true });
const addons = {};
const temporary = mkdtempSync(join(tmpdir(), "tenon-publish-"));
try {
  for (const engine of filesIn(resolve(folder, "engines")).filter((file) => file.endsWith(".br")))
    copyFileSync(engine, join(engines, basename(engine)));
  for (const platform of Object.keys(targets)
    .map(suffixOf)
    .filter((each) => given.includes(each))) {
    const found = filesIn(resolve(folder, platform));
    addons[platform] =
      found.find((file) => file.endsWith(`tenon.${platform}.node`)) ?? fail(`${platform} must have an addon`);
  }
  if (values.files !== undefined) writeArchives(resolve(values.files));
  else publish();
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function publish() {
  for (const [name, tarball] of Object.entries(pack(addons, temporary, version, addNotices))) {
    say(`Publishing ${publishedName(name)} ${version}`);
    const how = values["dry-run"] ? ["--dry-run"] : ["--provenance"];
    run("npm", ["publish", tarball, "--access", "public", ...how]);
  }
}

/** An archive names the addon of one platform only, because npm would look for the others in the registry. */
function writeArchives(into) {
  mkdirSync(into, { recursive: true });
  for (const [platform, addon] of Object.entries(addons)) {
    say(`Packing ${platform}`);
    const place = join(temporary, platform);
    const tarballs = Object.values(pack({ [platform]: addon }, place, version, addNotices)).map((file) =>
      basename(file),
    );
    run("tar", ["-czf", join(into, `tenon-${version}-${platform}.tar.gz`), "-C", place, ...tarballs]);
  }
}

function filesIn(at) {
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
