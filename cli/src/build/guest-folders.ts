/** The folders of `guest/`, compiled: the modules that the build adds to a bundle. */
import { join } from "node:path";
import { guestFolder, packageFolder } from "../package.ts";

/** The modules that the generated entry imports. */
export const entryFolder = join(guestFolder, "entry");

/** The modules that stand in for Node's inside a component. */
export const nodeFolder = join(guestFolder, "node");

/** The modules that define features which no engine has. */
export const polyfillsFolder = join(guestFolder, "polyfills");

/** The modules that define globals which QuickJS lacks. */
export const platformFolder = join(guestFolder, "platform");

/** The isolate of code mode, and the program in it. */
export const isolateFolder = join(guestFolder, "isolate");

/** The modules for the engine of componentize-js. */
export const referenceFolder = join(guestFolder, "reference");

/** Their sources in a clone, which source maps name. */
const sourceFolder = join(packageFolder, "../guest/src");

/** The names that the entry shares with the SDK; in a clone they are a file of another SDK than that of a project outside of it. */
const sharedNames = join(packageFolder, "../ts-sdk/dist/abi.js");

/** Reports whether a file is in these folders, compiled or not. */
export const isOfGuest = (file: string): boolean =>
  file === sharedNames || [guestFolder, sourceFolder].some((folder) => file.startsWith(folder));
