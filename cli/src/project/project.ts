/** Finds projects, and the paths of their files. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { systemReason, TenonError } from "../errors.ts";
import { textOf } from "../text-file.ts";
import { type Config, parseConfig } from "./config.ts";

/** The file that makes a folder a project. */
export const configFile = "tenon.toml";

/** A folder with a `tenon.toml`, and where its things are. All paths are absolute. */
export interface Project {
  readonly folder: string;
  readonly config: Config;
  /** The handler module. */
  readonly source: string;
  /** The output of `tenon build`. */
  readonly component: string;
  readonly composed: string;
  readonly sourceMap: string;
  /** Files of the build that are of no further use. */
  readonly scratch: string;
}

/**
 * Finds the project that contains `folder`: the nearest folder upwards with a `tenon.toml`; undefined when there is
 * none.
 */
export async function findProject(folder: string): Promise<Project | undefined> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, configFile))) return openProject(at);
    if (at === dirname(at)) return undefined;
  }
}

/**
 * The project that `folder` is in.
 *
 * @throws TenonError `NO_PROJECT` when it is in none, `CONFIG` when its `tenon.toml` is wrong
 */
export async function requireProject(folder: string): Promise<Project> {
  const project = await findProject(folder);
  if (project === undefined) {
    throw new TenonError(
      "NO_PROJECT",
      `there is no ${configFile} in ${folder} or above it`,
      "go to a project's folder, or make one with `tenon new <name>`; `tenon init` adds Tenon to an existing app",
    );
  }
  return project;
}

/**
 * The projects that are meant in `folder`: the one that it is in, or every one of the workspace that it is the root of.
 *
 * @throws TenonError as {@link requireProject} does
 */
export async function projectsFrom(folder: string): Promise<Project[]> {
  const own = await findProject(folder);
  if (own !== undefined) return [own];
  const { workspaceMembers } = await import("./workspace.ts").catch((error: unknown) => {
    // An installation for serving lacks the SDK, which finds workspaces.
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    return { workspaceMembers: () => [] };
  });
  const [root, ...packages] = workspaceMembers(folder);
  const members = packages.filter((member) => existsSync(join(member, configFile)));
  if (root !== resolve(folder) || members.length === 0) return [await requireProject(folder)];
  return Promise.all(members.map(openProject));
}

async function openProject(folder: string): Promise<Project> {
  const file = join(folder, configFile);
  const shown = relative(process.cwd(), file);
  let text: string;
  try {
    text = textOf(await readFile(file));
  } catch (error) {
    throw new TenonError("CONFIG", `cannot read ${shown}: ${systemReason(error)}`);
  }
  const config = parseConfig(text, shown, process.env);
  const { name, entry = "src/handler.ts" } = config.project;
  return {
    folder,
    config,
    source: join(folder, entry),
    component: join(folder, "dist", `${name}.wasm`),
    composed: join(folder, "dist", `${name}-composed.wasm`),
    sourceMap: join(folder, "dist", `${name}.wasm.map`),
    scratch: join(folder, ".tenon"),
  };
}

/** The place of a project's handler module, as a hint when it does not exist. */
export function sourceHint({ config }: Project): string {
  const { entry } = config.project;
  return entry === undefined
    ? "a project's handler is in src/handler.ts"
    : `\`entry\` in [project] of ${configFile} says ${JSON.stringify(entry)}`;
}

/** The name of a component in URLs: its file's name without `.wasm` or `.cwasm` and `-composed`. */
export function moduleName(file: string): string {
  return basename(file)
    .replace(/\.c?wasm$/, "")
    .replace(/-composed$/, "");
}

/** The components in the project's `modules/`, sorted by name. */
export async function dependencies(project: Project): Promise<string[]> {
  const folder = join(project.folder, "modules");
  if (!existsSync(folder)) return [];
  const files = await readdir(folder);
  return (
    files
      // Names with a leading dot are hidden files, such as macOS' own on foreign disks.
      .filter((file) => file.endsWith(".wasm") && !file.startsWith("."))
      .sort()
      .map((file) => join(folder, file))
  );
}
