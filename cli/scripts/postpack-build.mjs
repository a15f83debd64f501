// A clone uses these where they live; copies would hide later changes to them.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

for (const name of ["dist", "guest", "viewer", "wit", "engines.json"]) {
  rmSync(fileURLToPath(new URL(`../build/${name}`, import.meta.url)), { recursive: true, force: true });
}
