/** The versions of Tenon's parts. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildPackageFrom } from "./building.ts";
import { isComplete, packageFolder, version } from "./package.ts";

/** The version of wasmtime in the addon; a test compares it with `Cargo.toml`. */
export const wasmtimeVersion = "48.0.8";

/** The version of QuickJS-ng that the JavaScript engine is; a test compares its source's crate with `crates/engine/Cargo.toml`. */
export const engineVersion = "0.16.2";

/** The output of `tenon --version`. */
export function versionLine(): string {
  const isBuilding = isComplete || buildPackageFrom(process.cwd()) !== undefined;
  const engine = isBuilding ? `QuickJS-ng ${engineVersion}` : "serving only";
  return `tenon ${version} (${engine}, wasmtime ${wasmtimeVersion})`;
}

/** The version of a package that files in a folder find; undefined when they find none. */
export function installedVersion(name: string, folder: string = packageFolder): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    try {
      const manifest = JSON.parse(readFileSync(join(at, "node_modules", name, "package.json"), "utf8"));
      return String((manifest as { version?: unknown }).version);
    } catch {
      if (at === dirname(at)) return undefined;
    }
  }
}
