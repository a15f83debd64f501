/** The components of a project. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemReason, TenonError } from "../errors.ts";

/**
 * Returns the files of a project's components, by their digests.
 *
 * @throws TenonError `USAGE` when one cannot be read
 */
export async function componentsOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const below of ["dist", "modules"]) {
    const names = await readdir(join(folder, below)).catch(() => []);
    for (const each of names.filter((each) => each.endsWith(".wasm"))) {
      const file = join(folder, below, each);
      const bytes = await readFile(file).catch((error: unknown) => {
        throw new TenonError("USAGE", `cannot read ${file}: ${systemReason(error)}`);
      });
      found.set(createHash("sha256").update(bytes).digest("hex"), file);
    }
  }
  return found;
}
