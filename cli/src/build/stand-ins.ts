/** The folders of the files that stand in for Node's modules, and of the polyfills. */
import { join } from "node:path";
import { cryptoFolder, guestFolder, packageFolder } from "../package.ts";

/** The modules that stand in for Node's inside a component, compiled. */
export const nodeFolder = join(guestFolder, "node");

/** The compiled modules that define features that the engine lacks. */
export const polyfillsFolder = join(guestFolder, "polyfills");

/** The compiled modules that define globals which QuickJS lacks. */
export const platformFolder = join(guestFolder, "platform");

/** Their sources in a clone, which source maps name. */
const sourceFolder = join(packageFolder, "../guest/src");

/** Returns true for a file in these folders, compiled or not. */
export const isOfNode = (file: string): boolean =>
  [guestFolder, sourceFolder, cryptoFolder].some((folder) => file.startsWith(folder));
