import { relative, sep } from "node:path";
import { watch as watchFiles } from "chokidar";
import type { Project } from "../project/project.ts";

/** What matters to a build whether or not the last one has read it. */
const always = new Set(["src", "wit", "modules", "tenon.toml", "package.json", "tsconfig.json", ".env"]);

/** Folders that are large, or that builds write to. */
const left = new Set(["node_modules", "dist", ".tenon", ".git"]);

/**
 * Milliseconds without a further change until one is told: an editor or a `git switch` changes many files at once. More than
 * the 50 within which chokidar drops further changes of a file: what is dropped is older than what is then read.
 */
const quiet = 70;

/** Watching a project's sources. */
export interface Watching {
  /** Files that matter besides, wherever they are: what the last build has read. */
  add(files: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * Watches a project's sources.
 *
 * @param changed told the absolute paths that changed, appeared or went, once nothing more changes
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
  const isLeft = (path: string) => within(path).some((part) => left.has(part)) || /~$|\.sw[a-z]$/.test(path);
  // The whole folder: what is not there yet (an import's file, `wit/`) can be watched in no other way.
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
