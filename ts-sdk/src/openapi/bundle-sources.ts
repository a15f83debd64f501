import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { resolve } from "node:path";

/** A place in a source. Lines and columns count from 1. */
export interface SourcePlace {
  /** The absolute path. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The sources of a bundle, by its source map. */
export class BundleSources {
  readonly #map: SourceMap;
  readonly #folder: string;
  readonly #lines = new Map<string, readonly string[]>();

  /**
   * @param map as JSON text
   * @param folder the one that its paths are relative to
   */
  constructor(map: string, folder: string) {
    this.#map = new SourceMap(JSON.parse(map) as SourceMapPayload);
    this.#folder = folder;
  }

  /** The source of a place in the bundle, whose line and column count from 0; undefined for code without one. */
  placeOf(line: number, column: number): SourcePlace | undefined {
    const found = this.#map.findEntry(line, column);
    // For code without a source, the map returns an entry of an earlier line.
    if (!("originalSource" in found) || found.generatedLine !== line) return undefined;
    const file = resolve(this.#folder, found.originalSource);
    return { file, line: found.originalLine + 1, column: found.originalColumn + 1 };
  }

  /** The doc comment directly above a place, without `/*`, with only space, keywords and other comments between them. */
  commentBefore({ file, line, column }: SourcePlace): string | undefined {
    const lines = this.#lines.get(file) ?? readFileSync(file, "utf8").split("\n");
    this.#lines.set(file, lines);
    let at = line - 1;
    let text = lines[at]?.slice(0, column - 1) ?? "";
    for (;;) {
      text = text.trimEnd().replace(KEYWORDS, "");
      if (text === "" && at > 0) text = lines[--at] ?? "";
      else if (LINE_COMMENT.test(text)) text = text.replace(LINE_COMMENT, "");
      else if (!text.endsWith("*/")) return undefined;
      else {
        while (!text.slice(0, -2).includes("/*") && at > 0) text = `${lines[--at]}\n${text}`;
        const [comment = ""] = /\/\*(?:(?!\*\/).)*\*\/$/s.exec(text) ?? [];
        if (comment === "") return undefined;
        if (/^\/\*\*[^/]/.test(comment)) return comment.slice(2, -2);
        text = text.slice(0, -comment.length);
      }
    }
  }
}

/** The words of a declaration before its name. */
const KEYWORDS = /(?:^|(?<=[\s;{}/]))(?:export|default|const|let|var|static|readonly|public|\s)+$/;

/** A comment in a line of its own, or after another comment. */
const LINE_COMMENT = /(?<=^\s*|\*\/\s*)\/\/.*$/;
