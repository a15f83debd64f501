// The packages that are compiled into the addon, with their licences:
//
//   node scripts/third-party.mjs <folder> <target>    writes THIRD_PARTY.txt, and sbom.cdx.json (CycloneDX 1.6)
//
// Each package with an addon has both. `cargo deny` decides which licences may be among them (deny.toml).
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { suffixOf, targets } from "./cross/targets.mjs";
import { fail, root } from "./setup.mjs";
import { releasable } from "./version.mjs";

const GUEST = "wasm32-unknown-unknown";

/** The workspaces that the addon is compiled from; the last three as WebAssembly modules inside it. */
const workspaces = [
  { manifest: "Cargo.toml", product: "tenon-bindings" },
  { manifest: "crates/engine/platform/Cargo.toml", product: "tenon-platform", target: GUEST },
  { manifest: "crates/bridge/Cargo.toml", product: "tenon-bridge", target: GUEST },
  // Its sources in C alone are used.
  { manifest: "crates/engine/Cargo.toml", only: "rquickjs-sys", target: GUEST },
];

/** Where the licences of sources in C are that a crate carries. */
const carried = { "rquickjs-sys": ["quickjs/LICENSE"] };

/** SQLite is in the public domain, and has no text. */
const sqlite = { name: "sqlite", version: "", license: "blessing", texts: [] };

const licenceFile = /^(licen[sc]e|copying|copyright|notice|unlicense)/i;

/** The files that `writeThirdParty` writes: licences, and the packages in CycloneDX's format. */
export const notices = ["THIRD_PARTY.txt", "sbom.cdx.json"];

/** Writes both files into a folder, for a target of rustc. */
export function writeThirdParty(folder, target) {
  const found = new Map(
    workspaces.flatMap((each) => packagesOf({ target, ...each })).map((each) => [`${each.name} ${each.version}`, each]),
  );
  const packages = [...found.keys()].sort().map((key) => found.get(key));
  mkdirSync(folder, { recursive: true });
  const texts = [textOf([...packages, sqlite]), `${JSON.stringify(sbomOf([...packages, sqlite]), null, 1)}\n`];
  for (const [index, file] of notices.entries()) writeFileSync(join(folder, file), texts[index]);
}

/** Writes both files into a platform's package: the `complete` of `pack`. */
export function addNotices(platform, folder) {
  const target =
    Object.keys(targets).find((name) => suffixOf(name) === platform) ?? fail(`${platform} must be a target`);
  writeThirdParty(folder, targets[target].rust);
}

/** The packages of registries that are part of a product, without those that only its build runs. */
function packagesOf({ manifest, product, only, target }) {
  const args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", target];
  args.push("--manifest-path", join(root, manifest));
  const options = { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] };
  const { packages, resolve: graph } = JSON.parse(execFileSync("cargo", args, options));
  const byId = new Map(packages.map((each) => [each.id, each]));
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const wanted = packages.filter(({ name }) => name === (only ?? product)).map(({ id }) => id);
  const seen = new Set(wanted);
  while (only === undefined && wanted.length > 0) {
    for (const { pkg, dep_kinds } of nodes.get(wanted.pop()).deps) {
      if (seen.has(pkg) || !dep_kinds.some(({ kind }) => kind === null)) continue;
      seen.add(pkg);
      wanted.push(pkg);
    }
  }
  return [...seen]
    .map((id) => byId.get(id))
    .filter(({ source }) => source !== null)
    .map(packageOf);
}

function packageOf({ name, version, license, manifest_path }) {
  const folder = dirname(manifest_path);
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && licenceFile.test(entry.name),
  );
  const paths = [...files.map((entry) => entry.name), ...(carried[name] ?? [])];
  return { name, version, license, texts: paths.map((path) => readFileSync(join(folder, path), "utf8").trim()) };
}

/** The packages and their licences, then each text once, with the packages that have it. */
function textOf(packages) {
  const users = new Map();
  for (const each of packages) {
    for (const text of each.texts) {
      const key = text.replaceAll(/\s+/g, " ");
      const known = users.get(key) ?? { text, names: [] };
      known.names.push(`${each.name} ${each.version}`);
      users.set(key, known);
    }
  }
  const line = `\n\n${"-".repeat(80)}\n\n`;
  const list = packages.map(({ name, version, license, texts }) => {
    const place = texts.length === 0 ? ", of which its package has no text" : "";
    return `${`${name} ${version}`.trim()}: ${license}${place}`;
  });
  const parts = [...users.values()].map(({ text, names }) => `${names.join("\n")}\n\n${text}`);
  return [`The native addon of Tenon contains these packages.\n\n${list.join("\n")}`, ...parts].join(line).concat("\n");
}

function sbomOf(packages) {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "library", name: "@tenon/native", version: releasable().version } },
    components: packages.map(({ name, version, license }) => ({
      type: "library",
      name,
      ...(version === "" ? {} : { version, purl: `pkg:cargo/${name}@${version}` }),
      licenses: [{ expression: license.replaceAll("/", " OR ") }],
    })),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, target] = process.argv.slice(2);
  if (target === undefined) fail("usage: node scripts/third-party.mjs <folder> <target>");
  writeThirdParty(resolve(folder), target);
}
