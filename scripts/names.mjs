// The names under which packages are published. In a clone they are `tenon` and `@tenon/…`. A release may choose another scope:
//
//   TENON_SCOPE=@acme node scripts/publish.mjs …
//
// Packages are then renamed when they are packed: `@acme/sdk`, and `@acme/tenon` for the command, which stays `tenon`. An addon has to be
// built with the same variable, because it knows the SDK's frames in stacks by the scope.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fail } from "./setup.mjs";

/** The scope in a clone. */
const OWN = "@tenon";

/** The scope of the packages that are published. */
export const scope = process.env.TENON_SCOPE || OWN;
if (!/^@[a-z0-9][a-z0-9._-]*$/.test(scope)) fail(`TENON_SCOPE must be like @acme: ${scope}`);

/** True when packages are published under other names than a clone has. */
export const isRenamed = scope !== OWN;

/** Returns the name under which a package is published. */
export function publishedName(name) {
  return name === "tenon" && isRenamed ? `${scope}/tenon` : name.replace(`${OWN}/`, `${scope}/`);
}

/** Places where texts name the command's package. Elsewhere `tenon` is the command, or something else. */
const commands =
  /(?<=(?:\bfrom |\bimport\()["']|node_modules\/|npm install (?:--save-dev )?|--external:|commandPackage = ["'])tenon(?=["'/\s@`]|$)/gm;

/** The scope before a name, also in a regular expression: `@tenon\/` and `@tenon[\\/]`. */
const scopes = new RegExp(String.raw`${OWN}(?=\\?/|\[\\\\/\])`, "g");

/** Returns a file's text with the names of published packages. */
export function renamed(text) {
  return text.replace(scopes, scope).replace(commands, publishedName("tenon"));
}

const isText = (file) =>
  /(?:\.(?:[cm]?js|[cm]?ts|json|md|toml|txt|wit|html|css)|\/gitignore|\/LICENSE[^/]*)$/.test(file);

/**
 * Renames the packages that a tarball of `npm pack` names, in place. `packAgain` packs a folder into another one, without scripts, and returns
 * the tarball's name.
 */
export function renameTarball(tarball, packAgain) {
  const temporary = mkdtempSync(`${tarball}-`);
  const folder = join(temporary, "package");
  try {
    execFileSync("tar", ["-xzf", tarball, "-C", temporary]);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (entry.isFile()) renameFile(file);
      if (entry.name === "package.json") renameManifest(file);
    }
    // The file keeps its name, so that `npm install ./tenon-*.tgz` finds it.
    renameSync(join(temporary, packAgain(folder, temporary)), tarball);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function renameFile(file) {
  if (/[/\\]tenon\.[^/\\]*\.node$/.test(file) && !readFileSync(file).includes(scope))
    fail(`${file} must be built with TENON_SCOPE=${scope}`);
  if (!isText(file)) return;
  const text = readFileSync(file, "utf8");
  const other = renamed(text);
  if (other !== text) writeFileSync(file, other);
}

/** Renames the command's package in a manifest: a package's, or a template's. */
function renameManifest(file) {
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  if (manifest.name !== undefined) manifest.name = publishedName(manifest.name);
  for (const [kind, named] of Object.entries(manifest))
    if (/dependencies(?:Meta)?$/i.test(kind))
      manifest[kind] = Object.fromEntries(Object.entries(named).map(([name, value]) => [publishedName(name), value]));
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
