/** Watches the files that a build depends on. */
import { relative, sep } from "node:path";
import { watch as watchFiles } from "chokidar";
import type { Project } from "../project/project.ts";

/** Paths that concern every build. */
const always = new Set(["src", "wit", "modules", "tenon.toml", "package.json", "tsconfig.json", ".env"]);

/** Folders that are large, or that builds write to. */
const left = new Set(["node_modules", "dist", ".tenon", ".git"]);

/**
 * Milliseconds without further changes before changes are reported, because an editor or `git switch` changes many
 * files at once. It is more than the 50 in which chokidar drops repeated changes of a file, so the dropped ones precede
 * the read.
 */
const quiet = 70;

/** A running watch. */
export interface Watching {
  /** Adds files that the last build has read, wherever they are. */
  add(files: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * Watches a project's sources.
 *
 * @param changed called with the absolute paths of changed, added and removed files after a quiet period
 */
export async function watch(project: Project, changed: (paths: readonly string[]) => void): Promise<Watching> {
  const inputs = new Set<string>();
  const paths = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const found = [...paths];
    paths.clear();
    changed(found);
  };
  const within = (path: string) => relative(project.folder, path).split(sep);
  const isLeft = (path: string) =>
    within(path).some((part) => left.has(part)) || /~$|\.sw[a-z]$|\.wasm\.d\.ts$/.test(path);
  // Watches the whole folder, because missing files (an import's file, `wit/`) cannot be watched otherwise.
  const watcher = watchFiles(project.folder, { ignoreInitial: true, ignored: isLeft });
  watcher.on("all", (event, path) => {
    if (event === "addDir" || !(inputs.has(path) || always.has(within(path)[0] ?? ""))) return;
    paths.add(path);
    clearTimeout(timer);
    timer = setTimeout(tell, quiet);
  });
  await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  return {
    add: (files) => {
      const more = files.filter((file) => !inputs.has(file) && !isLeft(file));
      for (const file of more) inputs.add(file);
      watcher.add(more.filter((file) => within(file)[0] === ".."));
    },
    close: () => {
      clearTimeout(timer);
      return watcher.close();
    },
  };
}
