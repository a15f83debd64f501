import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

interface Manifest {
  readonly name: string;
  readonly version: string;
}

const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as Manifest;

/** The version of this package; all packages of Tenon share it. */
export const version = manifest.version;

/** The folder of this package. */
export const packageFolder = fileURLToPath(root);

/** The WIT of `sdk:core`: in the package when it was packed, at the repository's root in a clone. */
export const witFolder = shipped("wit", "../wit");

/** The folder with the example that `tenon new` makes a project of; see {@link witFolder}. */
export function templateFolder(example: string): string {
  return shipped(`templates/${example}`, `../examples/${example}`);
}

function shipped(packed: string, cloned: string): string {
  const inPackage = fileURLToPath(new URL(packed, root));
  return existsSync(inPackage) ? inPackage : fileURLToPath(new URL(cloned, root));
}
