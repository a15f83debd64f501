/** The folders of the files that stand in for Node's modules, or fill a gap of the engine. */
import { join } from "node:path";
import { cryptoFolder, packageFolder } from "../package.ts";

/** The modules that stand in for Node's inside a component, compiled. */
export const nodeFolder = join(packageFolder, "dist", "node");

/** The compiled modules that define features that the engine lacks. */
export const gapsFolder = join(packageFolder, "dist", "gaps");

/** Returns true for a file in these folders, compiled or not. */
export const isOfNode = (file: string): boolean =>
  [nodeFolder, gapsFolder, cryptoFolder, join(packageFolder, "src", "node"), join(packageFolder, "src", "gaps")].some(
    (folder) => file.startsWith(folder),
  );
