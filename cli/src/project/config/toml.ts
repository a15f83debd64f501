/** TOML with the places of keys and values. */
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import { plainMessage } from "./toml-mistakes.ts";

/** A stretch of one line; lines and columns count from 1. */
export interface Span {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** A value of the file, and where it and its key stand. */
export interface TomlEntry {
  readonly key: Span;
  readonly at: Span;
  /** As `getStaticTOMLValue` gives it. A table's keys are in `entries` instead; a list of tables, `[[a]]`, has neither. */
  readonly value: unknown;
  /** The table's keys, however it is written: `[a]`, `a.b = …` or `a = { … }`. */
  readonly entries?: TomlEntries;
}

/** A table by keys. */
export type TomlEntries = Map<string, TomlEntry>;

/** The syntax errors of the TOML itself. */
export class TomlMistake extends Error {
  readonly at: Span;

  constructor(message: string, at: Span) {
    super(message);
    this.at = at;
  }
}

/**
 * Reads TOML 1.0 with the place of each key and value.
 *
 * @throws TomlMistake for invalid TOML
 */
export function readToml(text: string): TomlEntries {
  const root: TomlEntries = new Map();
  const parsed = parse(text);
  if (parsed instanceof ParseError) throw mistakeOf(parsed, text);
  for (const node of parsed.body[0].body) {
    if (node.type === "TOMLKeyValue") putPair(root, node);
    else putTable(root, node);
  }
  return root;
}

function parse(text: string): AST.TOMLProgram | ParseError {
  try {
    return parseTOML(text, { tomlVersion: "1.0" });
  } catch (error) {
    if (error instanceof ParseError) return error;
    throw error;
  }
}

/**
 * The parser looks for a missing value or bracket on the lines after it, and names the place where it gave up. When the
 * lines before that place are invalid by themselves, the mistake is at their end.
 */
function mistakeOf({ message, lineNumber, column }: ParseError, text: string): TomlMistake {
  const lines = text.split(/\r?\n/);
  const before = lines.slice(0, lineNumber - 1);
  const start = lines[lineNumber - 1]?.slice(0, column) ?? "";
  const isLast = lines.slice(lineNumber).every(isNothing) && lines[lineNumber - 1]?.length === column;
  if (isLast) before.push(start);
  const last = isLast || isNothing(start) ? before.map(isNothing).lastIndexOf(false) : -1;
  const alone = last < 0 ? undefined : parse(before.slice(0, last + 1).join("\n"));
  if (alone instanceof ParseError) {
    const line = before[last]?.trimEnd() ?? "";
    return new TomlMistake(plainMessage(alone.message, line), { line: last + 1, column: line.length + 1, length: 1 });
  }
  return new TomlMistake(plainMessage(message, start), { line: lineNumber, column: column + 1, length: 1 });
}

/** Reports whether a line is empty or only a comment. */
function isNothing(line: string): boolean {
  return /^\s*(#|$)/.test(line);
}

function putTable(root: TomlEntries, node: AST.TOMLTable): void {
  const keys = node.key.keys;
  if (node.kind === "array") {
    put(root, keys, () => ({ at: spanOf(node.key), value: undefined }));
    return;
  }
  const entries = keys.reduce<TomlEntries | undefined>((table, key) => table && descend(table, key), root);
  // Undefined below a list of tables, which is wrong as a whole already.
  if (entries !== undefined) for (const pair of node.body) putPair(entries, pair);
}

function putPair(table: TomlEntries, { key, value }: AST.TOMLKeyValue): void {
  put(table, key.keys, () => contentOf(value));
}

function contentOf(node: AST.TOMLContentNode): Omit<TomlEntry, "key"> {
  const at = spanOf(node);
  if (node.type !== "TOMLInlineTable") return { at, value: getStaticTOMLValue(node) };
  const entries: TomlEntries = new Map();
  for (const pair of node.body) putPair(entries, pair);
  return { at, value: undefined, entries };
}

/** Puts a value at the end of a dotted key. */
function put(table: TomlEntries, path: readonly TomlKey[], content: () => Omit<TomlEntry, "key">): void {
  const last = path.at(-1);
  if (last === undefined) return;
  const inner = path.slice(0, -1).reduce<TomlEntries | undefined>((at, key) => at && descend(at, key), table);
  inner?.set(nameOf(last), { key: spanOf(last), ...content() });
}

type TomlKey = AST.TOMLBare | AST.TOMLQuoted;

/** The table under a key, made when it is not there; undefined when the key has something else. */
function descend(table: TomlEntries, key: TomlKey): TomlEntries | undefined {
  const found = table.get(nameOf(key));
  if (found !== undefined) return found.entries;
  const entries: TomlEntries = new Map();
  table.set(nameOf(key), { key: spanOf(key), at: spanOf(key), value: undefined, entries });
  return entries;
}

function nameOf(key: TomlKey): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

function spanOf({ loc: { start, end } }: AST.TOMLNode): Span {
  // A node of several lines is cited at its first character.
  return {
    line: start.line,
    column: start.column + 1,
    length: start.line === end.line ? end.column - start.column : 1,
  };
}
