// Tarballs of all packages, as they would be published.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRenamed, renameTarball } from "./names.mjs";
import { nativePackages } from "./native-packages.mjs";
import { root, started } from "./setup.mjs";
import { published } from "./version.mjs";

/**
 * Packs every package into a folder, with these addons and `complete` (see {@link nativePackages}). Returns the tarballs by the names that
 * their packages have in a clone, in an order in which they depend on each other.
 */
export function pack(addons, folder, version, complete) {
  mkdirSync(folder, { recursive: true });
  const native = nativePackages(addons, join(folder, "native"), version, complete);
  const others = published.filter((each) => each !== "bindings").map((each) => join(root, each));
  const tarballs = {};
  for (const place of [...native, ...others]) {
    const { name } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    tarballs[name] = join(folder, packFolder(place, folder));
    if (isRenamed) renameTarball(tarballs[name], (from, into) => packFolder(from, into, "--ignore-scripts"));
  }
  return tarballs;
}

/** Packs the package in a folder, and returns the name of the tarball, which `npm pack` prints last. */
function packFolder(place, into, ...options) {
  const [npm, args] = started("npm", ["pack", "--silent", ...options, "--pack-destination", into]);
  const printed = execFileSync(npm, args, { cwd: place, stdio: ["ignore", "pipe", 2], encoding: "utf8" });
  return printed.trim().split("\n").at(-1);
}
