// Puts the SDK's code into the one compiled file that imports the SDK to serve, because the package has no SDK. A part of `npm run build`.
// A file that is the same stays as it is, because tests build their components again when a file is newer.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const outfile = file("dist/sandbox/schema-type.js");
const { outputFiles } = buildSync({
  entryPoints: [file("src/sandbox/schema-type.ts")],
  outfile,
  write: false,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2023",
});
const [{ text }] = outputFiles;
if (!existsSync(outfile) || readFileSync(outfile, "utf8") !== text) writeFileSync(outfile, text);
