// The packages of the addon, as they are published: one for each platform that was built, and the main one, which has no addon and
// names them.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/**
 * Writes the packages into a folder and returns their folders, the main one last. `addons` has the file of each platform, by the end of
 * its package's name, such as `linux-x64-gnu`. `complete` is called with each platform and its folder, to add other files.
 */
export function nativePackages(addons, folder, version, complete = () => {}) {
  const folders = Object.entries(addons).map(([platform, addon]) => {
    const place = join(folder, platform);
    mkdirSync(place, { recursive: true });
    for (const file of ["package.json", "README.md"])
      if (existsSync(join(root, "bindings/npm", platform, file)))
        cpSync(join(root, "bindings/npm", platform, file), join(place, file));
    copyFileSync(addon, join(place, `tenon.${platform}.node`));
    complete(platform, place);
    return place;
  });
  const main = join(folder, "native");
  mkdirSync(main, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(root, "bindings/package.json"), "utf8"));
  const { scripts: _scripts, devDependencies: _tools, ...kept } = manifest;
  const names = Object.keys(addons).map((platform) => `@tenon/native-${platform}`);
  const optionalDependencies = Object.fromEntries(names.map((name) => [name, version]));
  const files = kept.files.filter((file) => file !== "*.node");
  writeFileSync(join(main, "package.json"), `${JSON.stringify({ ...kept, files, optionalDependencies }, null, 2)}\n`);
  for (const file of files)
    if (existsSync(join(root, "bindings", file))) copyFileSync(join(root, "bindings", file), join(main, file));
  return [...folders, main];
}
