/** Variables that a top level reads from `process.env`: those of `[env]` in `tenon.toml`, as they are when the component is built. */
import { basename } from "node:path";
import type { Bundle } from "./bundle.ts";
import { placesIn } from "./engine-output.ts";
import { innermostPlace } from "./explain.ts";

/** A variable that a top level read; `guest/src/node/process.ts` prints a line for each. */
interface Read {
  /** `*` for all of them. */
  readonly name: string;
  readonly line: string;
}

const LINE = /^tenon-environment ("(?:[^"\\]|\\.)*") .*$/;

function readsIn(printed: string): Read[] {
  return printed.split("\n").flatMap((line) => {
    const [, name] = LINE.exec(line) ?? [];
    return name === undefined ? [] : [{ name: JSON.parse(name) as string, line }];
  });
}

/** Thrown when the top level has to run again, with variables that it read. */
export class ReadsEnvironment extends Error {}

/** The variables of `[env]` that a component contains, which are those that its top level reads. */
export class BuildEnvironment {
  readonly #all: Readonly<Record<string, string>>;
  readonly #secrets: Readonly<Record<string, string>>;
  readonly #read = new Set<string>();

  constructor(all: Readonly<Record<string, string>>, secrets: Readonly<Record<string, string>>) {
    this.#all = all;
    this.#secrets = secrets;
  }

  /** The variables that were read so far. */
  get variables(): Record<string, string> {
    return Object.fromEntries(Object.entries(this.#all).filter(([name]) => this.#read.has(name)));
  }

  /** @throws ReadsEnvironment when the engine's output names variables that the bundle lacks */
  requireAll(printed: string): void {
    const before = this.#read.size;
    for (const { name } of readsIn(printed)) {
      for (const each of name === "*" ? Object.keys(this.#all) : [name]) {
        if (Object.hasOwn(this.#all, each)) this.#read.add(each);
      }
    }
    if (this.#read.size > before) throw new ReadsEnvironment();
  }

  /** Removes the lines about variables from the engine's output, and returns what is to be said about them. */
  async warnings(
    printed: string,
    bundle: Bundle,
  ): Promise<{ readonly printed: string; readonly warnings: readonly string[] }> {
    const reads = readsIn(printed);
    if (reads.length === 0) return { printed, warnings: [] };
    const names = reads.map(({ name }) => name).filter((name) => Object.hasOwn(this.#all, name));
    const absent = await this.#absent(reads, bundle);
    const rest = printed
      .split("\n")
      .filter((line) => !LINE.test(line))
      .join("\n");
    if (names.length === 0 && absent.length === 0) return { printed: rest, warnings: [] };
    const place = await innermostPlace(placesIn(reads[0]?.line ?? "", basename(bundle.file)), bundle);
    const has = names.length === 0 ? "" : ` has the values of [env] at build time (${names.join(", ")})`;
    const lacks = absent.length === 0 ? "" : ` lacks what is not in [env] (${absent.join(", ")})`;
    return {
      printed: rest,
      warnings: [`${place}: process.env at top level${[has, lacks].filter((part) => part !== "").join(", and")}`],
    };
  }

  /** The hint for a top level that failed after it read variables that `[env]` lacks. */
  hint(printed: string): string | undefined {
    const absent = readsIn(printed)
      .map(({ name }) => name)
      .filter((name) => name !== "*" && !Object.hasOwn(this.#all, name));
    if (absent.length === 0) return undefined;
    const secret = absent.filter((name) => Object.hasOwn(this.#secrets, name));
    if (secret.length > 0)
      return `process.env at top level has no secrets (${secret.join(", ")}): read them in handlers, with secret() or c.env`;
    return `process.env at top level has [env] of tenon.toml, which lacks ${absent.join(", ")}`;
  }

  /** The absent variables that the user's own code reads. Packages look for many. */
  async #absent(reads: readonly Read[], bundle: Bundle): Promise<string[]> {
    const found: string[] = [];
    for (const { name, line } of reads) {
      if (name === "*" || Object.hasOwn(this.#all, name)) continue;
      const place = await innermostPlace(placesIn(line, basename(bundle.file)), bundle);
      if (!place.includes("node_modules")) found.push(name);
    }
    return found;
  }
}
