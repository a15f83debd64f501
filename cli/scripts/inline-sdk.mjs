// Puts the SDK's code into the one compiled file that imports the SDK to serve, because the package has no SDK. A part of `npm run build`.
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

buildSync({
  entryPoints: [file("src/sandbox/schema-type.ts")],
  outfile: file("dist/sandbox/schema-type.js"),
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2023",
});
