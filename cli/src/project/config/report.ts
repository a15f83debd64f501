import { codeFrame } from "../../build/code-frame.ts";
import { TenonError } from "../../errors.ts";
import type { Span } from "./toml.ts";

/** Gathers what is wrong with a file, so that all of it is told at once. */
export class Report {
  /** The file's text. */
  readonly text: string;
  readonly #file: string;
  readonly #problems: { readonly message: string; readonly at: Span | undefined; readonly hidden?: boolean }[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.text = text;
  }

  /** Notes what is wrong, and where; what is missing is nowhere. The line of a hidden place is not shown. */
  add(message: string, at: Span | undefined, hidden = false): void {
    this.#problems.push({ message: at === undefined ? `${this.#file}: ${message}` : message, at, hidden });
  }

  /** Notes what is wrong outside the file, such as a variable of the environment. */
  addElsewhere(message: string): void {
    this.#problems.push({ message, at: undefined });
  }

  throwIfAny(): void {
    if (this.#problems.length > 0) throw this.error();
  }

  /** Everything noted, by place; each with the line that it is in. */
  error(): TenonError {
    const lines = this.text.split(/\r?\n/);
    const inOrder = [...this.#problems].sort((a, b) => position(a.at) - position(b.at));
    const shown = inOrder.map(({ message, at, hidden }) => {
      if (at === undefined) return message;
      const place = `${this.#file}:${at.line}:${at.column}: ${message}`;
      const line = lines[at.line - 1];
      return line === undefined || hidden ? place : `${place}\n${codeFrame(line, at.line, at.column, at.length)}`;
    });
    return new TenonError("CONFIG", shown.join("\n"));
  }
}

function position(at: Span | undefined): number {
  return at === undefined ? Number.MAX_SAFE_INTEGER : at.line * 100_000 + at.column;
}
