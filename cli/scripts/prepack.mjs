// What the package needs beyond its compiled sources: the WIT and the templates, which live elsewhere in a clone.
import { execFileSync } from "node:child_process";
import { cpSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const left = new Set(["node_modules", "dist", ".tenon", "package-lock.json", "openapi.json"]);

execFileSync("npm", ["run", "build"], { cwd: root, stdio: "inherit" });
for (const folder of ["wit", "templates"]) rmSync(join(root, folder), { recursive: true, force: true });
cpSync(join(root, "../wit"), join(root, "wit"), { recursive: true });
const template = join(root, "templates/hello");
cpSync(join(root, "../examples/hello"), template, {
  recursive: true,
  filter: (from) => !left.has(from.split("/").at(-1)),
});
rmSync(join(template, "wit/deps"), { recursive: true });
renameSync(join(template, ".gitignore"), join(template, "gitignore"));
