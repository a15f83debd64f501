/** Places in the user's sources, by the source map of a bundle. */
import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { originalPositionFor, sourceContentFor, TraceMap } from "@jridgewell/trace-mapping";

/** A place in a source of the user's, with the text of its line. Lines and columns count from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text: string | undefined;
}

/** Maps positions in a bundle to positions in the user's sources. */
export class SourceMap {
  readonly #map: TraceMap;
  readonly #folder: string;

  private constructor(map: TraceMap, folder: string) {
    this.#map = map;
    this.#folder = folder;
  }

  static async read(file: string): Promise<SourceMap> {
    return new SourceMap(new TraceMap(await readFile(file, "utf8")), dirname(file));
  }

  /** The place behind a line and column of the bundle, the file relative to the working folder. */
  place(line: number, column: number): SourcePosition | undefined {
    const found = originalPositionFor(this.#map, { line, column: column - 1 });
    if (found.source === null) return undefined;
    return {
      file: relative(process.cwd(), resolve(this.#folder, found.source)),
      line: found.line,
      column: found.column + 1,
      text: sourceContentFor(this.#map, found.source)?.split("\n")[found.line - 1],
    };
  }
}
