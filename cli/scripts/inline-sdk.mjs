import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const file = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Writes the one compiled file that imports the SDK to serve: with the SDK's code in it for the package, or as it is in a clone. */
export function inlineSdk(isPacked) {
  buildSync({
    entryPoints: [file("src/sandbox/schema-type.ts")],
    outfile: file("dist/sandbox/schema-type.js"),
    bundle: isPacked,
    format: "esm",
    platform: "node",
    target: "es2023",
  });
}
