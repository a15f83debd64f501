/** Watches the files that a build depends on. */
import { join, relative, sep } from "node:path";
import { watch as watchFiles } from "chokidar";
import type { Project } from "../project/project.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Paths of the project that concern every build, whether or not the last one read them. */
const always = new Set(["src", "wit", "modules", "tenon.toml", "package.json", "tsconfig.json", ".env"]);

/** Folders of the project that builds write to. */
const written = new Set(["dist", ".tenon"]);

/** Folders that are large, wherever they are. Files in them that a build reads are watched all the same. */
const large = new Set(["node_modules", ".git"]);

/**
 * Milliseconds without further changes before changes are reported, because an editor or `git switch` changes many
 * files at once. It is more than the 50 in which chokidar drops repeated changes of a file, so the dropped ones precede
 * the read.
 */
const quiet = 70;

/** Milliseconds by which the time of a change may be before the clock: the system counts it in ticks. */
const tick = 20;

/** A running watch. */
export interface Watching {
  /**
   * Watches the files that a build read or looked for, wherever they are.
   *
   * @param begun the time at which the build began, in milliseconds; later changes are reported
   * @param isWhole false for a build that failed before it had read all files: those of the build before stay watched
   */
  read(files: readonly string[], begun: number, isWhole: boolean): void;
  close(): Promise<void>;
}

/**
 * Watches a project's sources.
 *
 * @param changed called with the absolute paths of changed, added and removed files after a quiet period
 */
export async function watch(project: Project, changed: (paths: readonly string[]) => void): Promise<Watching> {
  const paths = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    const found = [...paths];
    paths.clear();
    changed(found);
  };
  const add = (more: readonly string[]) => {
    for (const path of more) paths.add(path);
    clearTimeout(timer);
    timer = setTimeout(tell, quiet);
  };
  const within = (path: string) => relative(project.folder, path).split(sep);
  const isLeft = (path: string) => {
    const parts = within(path);
    return (
      written.has(parts[0] ?? "") || parts.some((part) => large.has(part)) || /~$|\.sw[a-z]$|\.wasm\.d\.ts$/.test(path)
    );
  };
  // Watches the whole folder, because missing files (an import's file, `wit/`) cannot be watched otherwise.
  const watcher = watchFiles(project.folder, { ignoreInitial: true, ignored: isLeft });
  watcher.on("all", (event, path) => {
    if (event !== "addDir" && always.has(within(path)[0] ?? "")) add([path]);
  });
  const read = new WatchedFiles(add);
  let last: ReadonlySet<string> = new Set();
  await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  return {
    read: (files, begun, isWhole) => {
      const scratch = join(project.folder, ".tenon") + sep;
      const own = files.filter((file) => !file.startsWith(scratch));
      last = new Set(isWhole ? own : [...last, ...own]);
      read.watch(last, begun - tick);
    },
    close: () => {
      clearTimeout(timer);
      read.close();
      return watcher.close();
    },
  };
}
