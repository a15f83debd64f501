/** Makes the files of a new project from a template. */
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { systemReason, TenonError } from "../errors.ts";
import { templateFolder, witFolder } from "../package.ts";
import { dependencySpecs } from "./dependency-specs.ts";
import { witName } from "./name.ts";
import { isInPnpmWorkspace, type PackageManager, pnpmSettings, pnpmWorkspaceFile } from "./package-manager.ts";

/** A template: a folder of `examples/`. */
export interface Template {
  readonly example: string;
  /** A summary of its content. */
  readonly summary: string;
  /** Additional steps: a command, and its purpose. */
  readonly steps?: readonly (readonly [command: string, what: string])[];
}

/** The templates there are, by name. */
export const templates: Readonly<Record<string, Template>> = {
  hello: { example: "hello", summary: "routes of every kind" },
  rest: { example: "rest", summary: "a resource that a cache keeps" },
  hono: { example: "hono-app", summary: "an app of Hono, or another one that speaks fetch" },
  sql: {
    example: "users-sql",
    summary: "users in a database",
    steps: [["npm run migrate", "makes the tables, while tenon dev runs"]],
  },
};

/** Files of a template's folder that are not copied: results of building and installing. */
const left = new Set(["node_modules", "dist", ".tenon", "package-lock.json", "openapi.json"]);

/**
 * Makes a project from a template.
 *
 * @param folder where; made when it is not there
 * @param manager the package manager that it is made for
 * @returns the files, relative to the folder, sorted
 * @throws TenonError `USAGE` for an unknown template, `EXISTS` when the folder has something in it but `.git`, `WRITE`
 */
export async function createProject(
  folder: string,
  name: string,
  template: string,
  manager: PackageManager = "npm",
): Promise<string[]> {
  const found = Object.hasOwn(templates, template) ? templates[template] : undefined;
  if (found === undefined) {
    const known = Object.keys(templates).join(", ");
    throw new TenonError("USAGE", `there is no template called \`${template}\``, `templates: ${known}`);
  }
  const { example } = found;
  await requireEmpty(folder);
  const source = templateFolder(example);
  // The first folder that is made, of those above it that are missing, too.
  let made: string | undefined;
  try {
    made = await mkdir(folder, { recursive: true });
    await cp(source, folder, {
      recursive: true,
      filter: (from) =>
        !relative(source, from)
          .split(/[\\/]/)
          .some((part) => left.has(part)),
    });
    // npm leaves a `.gitignore` out of packages, so it is packed under another name.
    if (existsSync(join(folder, "gitignore"))) await rename(join(folder, "gitignore"), join(folder, ".gitignore"));
    await mkdir(join(folder, "modules"), { recursive: true });
    await writeWit(folder);
    await personalize(folder, example, name);
    if (manager === "pnpm" && !isInPnpmWorkspace(folder)) await writePnpmSettings(folder);
  } catch (error) {
    // Half a project would be in the way of the next try.
    if (made !== undefined) await rm(made, { recursive: true, force: true }).catch(() => {});
    throw new TenonError("WRITE", `cannot make ${folder}: ${systemReason(error)}`, undefined, error);
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !harmless.has(file.split(sep)[0] ?? ""))
    .sort();
}

/** Files that the folder may contain: a new repository, and macOS' own files. */
const harmless = new Set([".git", ".DS_Store"]);

async function requireEmpty(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const hint = "choose another name, or remove it first";
  let found: string[];
  try {
    found = await readdir(folder);
  } catch (error) {
    const problem = (error as NodeJS.ErrnoException).code === "ENOTDIR" ? "it is a file" : systemReason(error);
    throw new TenonError("EXISTS", `${folder} already exists: ${problem}`, hint);
  }
  if (!found.some((entry) => !harmless.has(entry))) return;
  const init = found.includes("package.json") ? "; `tenon init` in it adds Tenon to the project that it has" : "";
  throw new TenonError("EXISTS", `${folder} already exists and is not empty`, `${hint}${init}`);
}

/** Writes the interfaces that the project's world includes: `sdk:core`, and the parts of WASI that it names. */
async function writeWit(folder: string): Promise<void> {
  const dependencies = join(folder, "wit", "deps");
  await cp(join(witFolder, "deps"), dependencies, { recursive: true });
  for (const file of ["handler.wit", "worlds.wit"]) await cp(join(witFolder, file), join(dependencies, "core", file));
}

/** Allows in pnpm the packages that `package.json` allows in npm. */
async function writePnpmSettings(folder: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { allowScripts?: object };
  const settings = pnpmSettings(Object.keys(manifest.allowScripts ?? {}));
  await writeFile(join(folder, pnpmWorkspaceFile), settings);
}

/** Puts the project's name where the example has its own. */
async function personalize(folder: string, example: string, name: string): Promise<void> {
  const edit = async (file: string, change: (text: string) => string) => {
    const path = join(folder, file);
    await writeFile(path, change(await readFile(path, "utf8")));
  };
  const specs = dependencySpecs();
  await edit("package.json", (text) => {
    const manifest = JSON.parse(text) as Record<string, unknown> & { devDependencies: Record<string, string> };
    const devDependencies = { ...manifest.devDependencies, ...specs };
    return `${JSON.stringify({ ...manifest, name, devDependencies: sorted(devDependencies) }, null, 2)}\n`;
  });
  await edit("tenon.toml", (text) => text.replace(`name = "${example}"`, `name = ${JSON.stringify(name)}`));
  const identifier = witIdentifier(name);
  await edit("wit/world.wit", (text) =>
    text
      .replace(`package app:${example};`, `package app:${identifier};`)
      .replace(`world ${example} `, `world ${identifier} `),
  );
  await edit("src/handler.ts", (text) => text.replace(`service: "${example}"`, `service: ${JSON.stringify(name)}`));
  await edit("test/handler.test.ts", (text) =>
    text.replace(`service: "${example}"`, `service: ${JSON.stringify(name)}`),
  );
}

/** The keywords of WIT that a project's name can be, those of features to come included (wit-parser, `ast/lex.rs`). */
const witKeywords = new Set(
  (
    "as async bool borrow char constructor enum error-context export f32 f64 flags float32 float64 from func future " +
    "import include interface list map option own package record resource result s16 s32 s64 s8 static stream string " +
    "tuple type u16 u32 u64 u8 use variant with world"
  ).split(" "),
);

/** The project's name in WIT, where a keyword names something behind a `%` only. */
function witIdentifier(name: string): string {
  const identifier = witName(name);
  return witKeywords.has(identifier) ? `%${identifier}` : identifier;
}

function sorted(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
