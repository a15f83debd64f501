// A clone uses the WIT, the templates and the component of sandboxes where they live; copies beside the sources would hide later changes to them.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

for (const folder of ["wit", "templates", "sandbox.wasm"]) {
  rmSync(fileURLToPath(new URL(`../${folder}`, import.meta.url)), { recursive: true, force: true });
}
