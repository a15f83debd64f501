/** Reports mistakes in `tenon.toml` with their line, and without secrets. */
import { codeFrame } from "../../build/code-frame.ts";
import { TenonError } from "../../errors.ts";
import type { Span } from "./toml.ts";

/** The shown part of a problem's line: all of it, all but the texts after the key, or its place alone. */
export type Shown = "line" | "key" | "place";

/** Gathers the problems of a file, so that all are reported at once. */
export class Report {
  /** The file's text. */
  readonly text: string;
  readonly #file: string;
  readonly #problems: { readonly message: string; readonly at: Span | undefined; readonly shown: Shown }[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.text = text;
  }

  /** Adds a problem and its place; a missing key has no place. */
  add(message: string, at: Span | undefined, shown: Shown = "line"): void {
    this.#problems.push({ message: at === undefined ? `${this.#file}: ${message}` : message, at, shown });
  }

  /** Adds a problem outside the file, such as in an environment variable. */
  addElsewhere(message: string): void {
    this.#problems.push({ message, at: undefined, shown: "place" });
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw this.error();
  }

  /** Everything noted, by place; each with the line that it is in. */
  error(): TenonError {
    const lines = this.text.split(/\r?\n/);
    const inOrder = [...this.#problems].sort((a, b) => position(a.at) - position(b.at));
    const told = inOrder.map(({ message, at, shown }) => {
      if (at === undefined) return message;
      const place = `${this.#file}:${at.line}:${at.column}: ${message}`;
      const line = lines[at.line - 1];
      if (line === undefined || shown === "place") return place;
      const text = shown === "key" ? withoutTexts(line, at.column - 1 + at.length) : line;
      return `${place}\n${codeFrame(text, at.line, at.column, at.length)}`;
    });
    return new TenonError("CONFIG", told.join("\n"));
  }
}

/** A line whose texts from an offset on are left out: behind a key that nobody knows may stand a secret. */
function withoutTexts(line: string, from: number): string {
  return line.slice(0, from) + line.slice(from).replace(/"(?:[^"\\]|\\.)*"?|'[^']*'?/g, "…");
}

function position(at: Span | undefined): number {
  return at === undefined ? Number.MAX_SAFE_INTEGER : at.line * 100_000 + at.column;
}
