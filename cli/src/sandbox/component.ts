/** The component of sandboxes: shipped with the package, or built in a clone. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultCacheFolder } from "../cache-folder.ts";
import { TenonError } from "../errors.ts";
import { commandPackage, isComplete, packageFolder } from "../package.ts";

let component: Promise<Buffer> | undefined;

/**
 * Returns the component, which is read once.
 *
 * @throws TenonError `NO_BUILD` when the package lacks it
 */
export function sandboxComponent(): Promise<Buffer> {
  component ??= open().catch((error) => {
    component = undefined;
    throw error;
  });
  return component;
}

async function open(): Promise<Buffer> {
  const shipped = await readFile(join(packageFolder, "sandbox.wasm")).catch(() => undefined);
  if (shipped !== undefined) return shipped;
  if (!isComplete)
    throw new TenonError(
      "NO_BUILD",
      `the package \`${commandPackage}\` lacks its file sandbox.wasm`,
      "install it again",
    );
  // By its path, so that a bundler of an app does not follow it into the packages for building.
  const builder = pathToFileURL(join(packageFolder, "dist/build/sandbox.js")).href;
  const { buildSandbox } = (await import(builder)) as typeof import("../build/sandbox.ts");
  return buildSandbox(defaultCacheFolder());
}
