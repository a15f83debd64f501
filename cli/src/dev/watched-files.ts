/** Watches files wherever they are, existing or not: by the folders above them, which report what is made, removed and renamed in them. */
import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** Milliseconds from an event to the look at the files, because programs change many at once. */
const lookAfter = 20;

/** Milliseconds between two looks at the files, where the system cannot watch a folder. */
const lookEvery = 1_000;

/**
 * Watches files, and the folders and links above them. A path counts as changed when it means another file than before, or
 * none: also when a folder or a link above it was replaced, as `git switch` and package managers do.
 */
export class WatchedFiles {
  readonly #changed: (paths: readonly string[]) => void;
  /** The watched paths, and what each one meant. */
  #marks = new Map<string, string>();
  /** For each folder the names in it that lead to watched paths. */
  #names = new Map<string, Set<string>>();
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly folder: string }>();
  #looks: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  /** The files that events named. */
  #touched = new Set<string>();

  /** @param changed called with the paths that changed, soon after the change, and once for each of several changes of a file */
  constructor(changed: (paths: readonly string[]) => void) {
    this.#changed = changed;
  }

  /**
   * Watches these paths, and no others.
   *
   * @param since milliseconds of the clock: paths that changed later count as changed
   */
  watch(paths: Iterable<string>, since: number): void {
    const before = this.#marks;
    this.#marks = new Map();
    const late: string[] = [];
    for (const path of paths) {
      const mark = markOf(path);
      this.#marks.set(path, mark.text);
      const known = before.get(path);
      if (known === undefined ? mark.changedAt >= since : known !== mark.text) late.push(path);
    }
    this.#names = namesTo(this.#marks.keys());
    this.#arm();
    // Whatever changed before the folders were watched.
    this.#look(new Set(late));
  }

  close(): void {
    clearInterval(this.#looks);
    clearTimeout(this.#soon);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Compares all paths with what they meant. */
  #look(found: Set<string>): void {
    for (const [path, known] of this.#marks) {
      const { text } = markOf(path);
      if (text === known) continue;
      this.#marks.set(path, text);
      found.add(path);
    }
    if (found.size > 0) this.#changed([...found]);
  }

  /** Watches the folders that exist now. */
  #arm(): void {
    let isWhole = true;
    const left = new Set(this.#watchers.keys());
    for (const folder of this.#names.keys()) {
      const identity = identityOf(folder);
      left.delete(folder);
      const known = this.#watchers.get(folder);
      if (known?.folder === identity) continue;
      known?.watcher.close();
      this.#watchers.delete(folder);
      if (identity === undefined) continue;
      try {
        const watcher = watch(folder, { persistent: true }, (_, name) => this.#event(folder, name));
        watcher.on("error", () => this.#event(folder, null));
        this.#watchers.set(folder, { watcher, folder: identity });
      } catch {
        // The folder has gone meanwhile, or the system has no watches left.
        isWhole = false;
      }
    }
    for (const folder of left) {
      this.#watchers.get(folder)?.watcher.close();
      this.#watchers.delete(folder);
    }
    if (isWhole) {
      clearInterval(this.#looks);
      this.#looks = undefined;
    } else {
      this.#looks ??= setInterval(() => {
        this.#arm();
        this.#look(new Set());
      }, lookEvery);
    }
  }

  #event(folder: string, name: string | null): void {
    // A folder reports its own end by its own name.
    const isOfFolder = name === null || name === basename(folder);
    if (!isOfFolder && !this.#names.get(folder)?.has(name)) return;
    if (name !== null) this.#touched.add(join(folder, name));
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      // A file that is written again within a tick of the clock keeps its mark.
      const files = [...this.#touched].filter((path) => this.#marks.has(path) && markOf(path).isFile);
      this.#touched = new Set();
      this.#arm();
      this.#look(new Set(files));
    }, lookAfter);
  }
}

/** The names that lead to paths, by their folders. */
function namesTo(paths: Iterable<string>): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const path of paths) {
    for (let at = path; dirname(at) !== at; at = dirname(at)) {
      const folder = dirname(at);
      const name = at.slice(folder.length + (folder.endsWith(sep) ? 0 : 1));
      const names = found.get(folder);
      if (names?.has(name)) break;
      if (names === undefined) found.set(folder, new Set([name]));
      else names.add(name);
    }
  }
  return found;
}

interface Mark {
  /** The meaning of the path: another text is another meaning. */
  readonly text: string;
  readonly isFile: boolean;
  /** Milliseconds of the clock; 0 when there is nothing. */
  readonly changedAt: number;
}

function markOf(path: string): Mark {
  const found = statOf(path);
  if (found === undefined) return { text: "", isFile: false, changedAt: 0 };
  const { dev, ino, nlink, size, mtimeMs, ctimeMs } = found;
  if (!found.isFile()) return { text: `${dev} ${ino}`, isFile: false, changedAt: 0 };
  // Each new link of a file changes its ctime: pnpm links the files of its store into every project.
  const changedAt = nlink > 1 ? mtimeMs : ctimeMs;
  return { text: `${dev} ${ino} ${size} ${mtimeMs} ${changedAt}`, isFile: true, changedAt };
}

/** Which folder a path means. */
function identityOf(folder: string): string | undefined {
  const found = statOf(folder);
  return found?.isDirectory() ? `${found.dev} ${found.ino}` : undefined;
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Such as a loop of links, or a file in the place of a folder.
    return undefined;
  }
}
