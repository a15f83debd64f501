/** Leaves out parts of the SDK that no source names. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Metafile, Plugin } from "esbuild";
import { isOfGuest } from "./guest-folders.ts";
import { isOfSdk } from "./sdk-names.ts";

/**
 * The modules of the SDK that are left out until a source names their feature. Every app imports them, because methods
 * of answers and options of routes lead to them. `left-out/` of the SDK has a replacement for each; its functions fail
 * with the missing word, so that a name composed at run time is not lost silently.
 */
const parts: Readonly<Record<string, RegExp>> = {
  "http/cookies": /cookie/i,
  "app/foreign": /~standard/,
  "app/query-string": /query|\bForm\b/i,
  "app/on-error": /onError/,
  "app/answers": /\bresponses?\b/,
  "app/on-invalid": /onInvalid/,
  "app/header-input": /headers/,
  "outbound/page": /\.\s*page\s*[(<]/,
  "drizzle/postgres": /["'`]postgres["'`]/,
  "drizzle/sqlite": /["'`]sqlite["'`]/,
  "app/prefix": /prefix|\bgroup\b/,
  "app/warm-up": /\bwarm\b/,
  "mcp/serve": /\bmcp\b/,
  "app/read-input": /path|query|headers|body|\bForm\b/,
};

const alternatives = (index: 0 | 1) => [...new Set(Object.keys(parts).map((part) => part.split("/")[index]))].join("|");

const partFile = new RegExp(
  String.raw`^(.*[\\/](?:dist|src)[\\/])(${alternatives(0)})[\\/](${alternatives(1)})(\.[jt]s)$`,
);

/**
 * The parts of the SDK that a bundle needs. A bundle is made without any; when one of its sources names some, it is made
 * again with them.
 */
export class SdkParts {
  readonly #named = new Set<string>();
  readonly #leftOut = new Set<string>();
  /** The folders of the SDK's own sources, each with a separator at its end. */
  readonly #sdkFolders = new Set<string>();
  readonly #read = new Set<string>();

  /** Reports whether a bundle has a part. */
  has(part: keyof typeof parts): boolean {
    return this.#named.has(part);
  }

  /** Adds the parts that a source names. */
  addFrom(source: string): void {
    for (const [part, word] of Object.entries(parts)) if (word.test(source)) this.#named.add(part);
  }

  /**
   * Adds the parts that the sources of a bundle name; returns whether it has to be made again. It also reads sources
   * without output, because their constants may be inlined in others.
   *
   * @param folder the folder that the bundle's inputs are named from
   */
  async add(folder: string, { inputs }: Metafile): Promise<boolean> {
    const lacks = () => [...this.#leftOut].filter((part) => !this.#named.has(part)).length;
    const before = lacks();
    for (const input of Object.keys(inputs)) {
      if (lacks() === 0) break;
      const file = resolve(folder, input);
      if (this.#read.has(file) || isOfGuest(file)) continue;
      if ([...this.#sdkFolders].some((sdk) => file.startsWith(sdk))) continue;
      this.#read.add(file);
      // The build makes some modules itself, the entry among them; they have no file and name nothing.
      this.addFrom(await readFile(file, "utf8").catch(() => ""));
    }
    return lacks() < before;
  }

  /** Loads the module in the place of each part that no source names. */
  get plugin(): Plugin {
    return {
      name: "sdk-parts",
      setup: ({ onLoad }) => {
        onLoad({ filter: partFile }, async ({ path }) => {
          const [, root, folder, name, extension] = partFile.exec(path) as unknown as string[];
          const isKnown =
            `${folder}/${name}` in parts && existsSync(`${root}left-out/${name}${extension}`) && (await isOfSdk(path));
          if (!isKnown || this.#named.has(`${folder}/${name}`)) return undefined;
          this.#sdkFolders.add(root as string);
          this.#leftOut.add(`${folder}/${name}`);
          return { contents: `export * from "../left-out/${name}${extension}";`, resolveDir: `${root}${folder}` };
        });
      },
    };
  }
}
