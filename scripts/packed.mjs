// Tarballs of all packages, as they would be published.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nativePackages } from "./native-packages.mjs";
import { root } from "./setup.mjs";
import { published } from "./version.mjs";

/**
 * Packs every package into a folder, with these addons and `complete` (see {@link nativePackages}). Returns the tarballs by the names of their packages.
 */
export function pack(addons, folder, version, complete) {
  mkdirSync(folder, { recursive: true });
  const native = nativePackages(addons, join(folder, "native"), version, complete);
  const others = published.filter((each) => each !== "bindings").map((each) => join(root, each));
  const tarballs = {};
  for (const place of [...native, ...others]) {
    const { name } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: place, stdio: ["ignore", 2, 2] });
    tarballs[name] = join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  }
  return tarballs;
}
