/** This package: its version, its folder, and the package for building beside it. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { TenonError } from "./errors.ts";

/** The package of the command, under the name of a clone. A release may rename it (`scripts/names.mjs`). */
export const commandPackage: string = "tenon";

/** The package for building. It has a copy of this code. */
export const buildPackage = "@tenon/build";

interface Package {
  readonly root: URL;
  readonly manifest: { readonly name: string; readonly version: string; readonly engines: { readonly node: string } };
}

const { root, manifest } = openPackage(import.meta.url);

/** The version of this package; all packages of Tenon share it. */
export const version = manifest.version;

/** The oldest version of Node that this package runs on, such as `20.19`. */
export const requiredNode = manifest.engines.node.replace(">=", "");

/** The folder of this package. */
export const packageFolder = fileURLToPath(root);

/**
 * Finds modules from this package. webpack follows an imported `createRequire` into the addon and into WebAssembly, and
 * fails there with an error that does not name Tenon; it does not follow this. @internal
 */
export const requireHere = process.getBuiltinModule("node:module").createRequire(new URL("package.json", root));

/** Finds modules from a folder. @internal */
export function requireIn(folder: string): NodeJS.Require {
  return process.getBuiltinModule("node:module").createRequire(pathToFileURL(`${folder}/package.json`));
}

/** True when this package can build: it is `@tenon/build`, or in a clone. */
export const isComplete = manifest.name === buildPackage || existsSync(new URL("build/package.json", root));

/** The WIT of `sdk:core`: in the package when it was packed, at the repository's root in a clone. */
export const witFolder = shipped("wit", "../wit");

/** The compiled modules of `guest/`, which the build bundles into components; see {@link witFolder}. */
export const guestFolder = shipped("guest", "../guest/dist");

/** The folder with the example that `tenon new` makes a project of; see {@link witFolder}. */
export function templateFolder(example: string): string {
  return shipped(`templates/${example}`, `../examples/${example}`);
}

function shipped(packed: string, cloned: string): string {
  const inPackage = fileURLToPath(new URL(packed, root));
  return existsSync(inPackage) ? inPackage : fileURLToPath(new URL(cloned, root));
}

/**
 * Reads the manifest of the package that a module one folder below its root is in.
 *
 * @param module the module's address; undefined in a bundle in CommonJS
 * @throws TenonError `BUNDLED` when the module is in another file by now, and so without the package's other files
 */
export function openPackage(module: string | undefined): Package {
  try {
    const root = new URL("../", module);
    const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
    if (manifest.name === commandPackage || manifest.name === buildPackage) return { root, manifest };
  } catch {
    // The manifest is missing, or not Tenon's.
  }
  throw new TenonError(
    "BUNDLED",
    `the package \`${commandPackage}\` was bundled into another file, where its addon and its other files are missing`,
    `keep it external (esbuild: --external:${commandPackage}; Vite: ssr.external; webpack: externals), and install it beside the bundle`,
  );
}
