// Adds files that the package needs beyond its compiled sources: the component of sandboxes, which is built, and the WIT and
// the templates, which are elsewhere in a clone.
import { execFileSync } from "node:child_process";
import { cpSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { started } from "../../scripts/setup.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const left = new Set(["node_modules", "dist", ".tenon", "package-lock.json", "openapi.json"]);

execFileSync(...started("npm", ["run", "build"]), { cwd: root, stdio: ["ignore", 2, 2] });
for (const folder of ["wit", "templates"]) rmSync(join(root, folder), { recursive: true, force: true });
cpSync(join(root, "../wit"), join(root, "wit"), { recursive: true });
const { buildSandbox } = await import("../dist/build/sandbox.js");
const { defaultCacheFolder } = await import("../dist/cache-folder.js");
writeFileSync(join(root, "sandbox.wasm"), await buildSandbox(defaultCacheFolder()));
const { templates } = await import("../dist/project/create.js");
for (const { example } of Object.values(templates)) {
  const template = join(root, "templates", example);
  cpSync(join(root, "../examples", example), template, {
    recursive: true,
    filter: (from) => !left.has(basename(from)),
  });
  rmSync(join(template, "wit/deps"), { recursive: true, force: true });
  renameSync(join(template, ".gitignore"), join(template, "gitignore"));
}
