// Packages from npm for programs that a script builds outside the clone.
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root, run, say } from "./setup.mjs";

/** Installs the packages that the `package.json` of a folder names, unless they are there, and links the SDK beside them. */
export function installIn(folder, names) {
  if (!names.every((name) => existsSync(join(folder, "node_modules", name)))) {
    say(`Installing packages into ${folder}`);
    run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], { cwd: folder });
  }
  mkdirSync(join(folder, "node_modules/@tenon"), { recursive: true });
  const sdk = join(folder, "node_modules/@tenon/sdk");
  if (!existsSync(sdk)) symlinkSync(join(root, "ts-sdk"), sdk);
}
