// Writes the files that are made from the table of tenon.toml's keys: the JSON Schema for editors, and the reference.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generated } from "../dist/project/config/generated.js";

for (const [file, text] of Object.entries(generated())) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  writeFileSync(path, text);
  console.error(`wrote ${file}`);
}
