// The package `@tenon/build`: copies of the command's code and of the code for components, the WIT, the API
// reference's viewer, and the digests of the engines.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { started } from "../../scripts/setup.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const build = join(root, "build");

execFileSync(...started("npm", ["run", "build"]), { cwd: root, stdio: ["ignore", 2, 2] });
for (const folder of ["dist", "guest", "viewer", "wit"]) rmSync(join(build, folder), { recursive: true, force: true });
cpSync(join(root, "../wit"), join(build, "wit"), { recursive: true });
for (const [from, to] of [
  [join(root, "dist"), "dist"],
  [join(root, "../guest/dist"), "guest"],
])
  cpSync(from, join(build, to), { recursive: true, filter: (file) => !/\.(map|d\.ts|tsbuildinfo)$/.test(file) });

// The program of isolates has the parser of sucrase in it, of which it needs four modules.
const program = join(build, "guest/isolate/program.js");
buildSync({
  entryPoints: [program],
  bundle: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  target: "es2023",
  mainFields: ["module", "main"],
  outfile: program,
  allowOverwrite: true,
});
rmSync(join(build, "guest/isolate/strip.js"));
const sucrase = createRequire(join(root, "../guest/package.json")).resolve("sucrase/package.json");
cpSync(join(dirname(sucrase), "LICENSE"), join(build, "guest/isolate/LICENSE.sucrase"));

// Only the viewer's files, with their licence, and not the package with its dependencies.
const viewer = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
for (const file of ["swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"])
  cpSync(join(viewer, file), join(build, "viewer", file));

const engines = join(root, "engine/engines");
const packed = existsSync(engines) ? readdirSync(engines).filter((file) => file.endsWith(".br")) : [];
const digest = (file) =>
  createHash("sha256")
    .update(readFileSync(join(engines, file)))
    .digest("hex");
const digests = Object.fromEntries(packed.sort().map((file) => [file, digest(file)]));
writeFileSync(join(build, "engines.json"), `${JSON.stringify(digests, null, 2)}\n`);
