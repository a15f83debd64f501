/**
 * Strips the types of a program: every token of a type becomes spaces, so that positions stay. It runs inside the isolate, with the
 * program's own limits of time and memory, because the text is the program's.
 */
import { parse } from "sucrase/dist/esm/parser/index.js";
import { ContextualKeyword } from "sucrase/dist/esm/parser/tokenizer/keywords.js";
import { TokenType as tt } from "sucrase/dist/esm/parser/tokenizer/types.js";

interface Token {
  readonly type: number;
  readonly contextualKeyword: number;
  readonly start: number;
  readonly end: number;
  readonly isType: boolean;
}

/** Tokens that are types although the parser does not say so. */
const MODIFIERS: ReadonlySet<number> = new Set([
  tt._public,
  tt._protected,
  tt._private,
  tt._readonly,
  tt._override,
  tt._abstract,
]);

/** Tokens that would continue an expression of the line before. */
const CONTINUING: ReadonlySet<number> = new Set([
  tt.parenL,
  tt.bracketL,
  tt.backQuote,
  tt.plus,
  tt.minus,
  tt.slash,
  tt.regexp,
]);

/** Keywords with which a declaration of types begins. */
const DECLARING: ReadonlySet<number> = new Set([
  ContextualKeyword._type,
  ContextualKeyword._interface,
  ContextualKeyword._declare,
  ContextualKeyword._namespace,
  ContextualKeyword._module,
]);

/**
 * Returns the program without its types.
 *
 * @throws SyntaxError with `line`, for a text that is no program, and for what is no type: enums, namespaces, parameter properties
 */
export function strip(source: string): string {
  const tokens = tokensOf(source);
  /** Pieces of the result; `at` is the end of what they cover. */
  const pieces: string[] = [];
  let at = 0;
  const copy = (end: number) => {
    if (end > at) pieces.push(source.slice(at, end));
    at = Math.max(at, end);
  };
  /** Replaces a range by spaces, with other text at its start or its end. */
  const blank = (start: number, end: number, first = "", last = "") => {
    copy(start);
    const spaces = source.slice(at, end).replace(/[^\n\r\u2028\u2029]/g, " ");
    pieces.push(first + spaces.slice(first.length, spaces.length - last.length) + last);
    at = end;
  };
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index] as Token;
    const before = tokens[index - 1];
    if (token.isType) {
      let last = index;
      while (tokens[last + 1]?.isType) last++;
      const { end } = tokens[last] as Token;
      const next = tokens[last + 1];
      if (isNamespace(tokens, index)) refuse(source, token, "a namespace");
      const hasBreak = /[\n\r]/.test(source.slice(token.start, end));
      if (next?.type === tt.arrow && before?.type === tt.parenR && hasBreak) {
        // An arrow must be on the line of its parenthesis.
        pieces[pieces.length - 1] = replaceLast(pieces.at(-1) ?? "", ")");
        blank(token.start, end, "", ")");
      } else blank(token.start, end, needsSemicolon(source, token, end, next) ? ";" : "");
      index = last;
    } else if (token.type === tt._enum) refuse(source, token, "an enum");
    else if (token.type === tt._declare || (token.type === tt._abstract && tokens[index + 1]?.type !== tt._class)) {
      let last = index;
      while (tokens[last + 1] !== undefined && tokens[last]?.type !== tt.semi && !isBreak(source, tokens, last)) last++;
      blank(token.start, (tokens[last] as Token).end);
      index = last;
    } else if (MODIFIERS.has(token.type)) {
      if (before?.type === tt.parenL || before?.type === tt.comma) refuse(source, token, "a parameter property");
      // A member that begins with "[" would continue the field before it.
      const begins = tokens[index + 1]?.type !== tt._class && !isModifier(before) && before?.type !== tt.braceL;
      blank(token.start, token.end, begins ? ";" : "");
    } else if (token.type === tt.nonNullAssertion) blank(token.start, token.end);
    else copy(token.end);
  }
  copy(source.length);
  return pieces.join("");
}

function tokensOf(source: string): readonly Token[] {
  try {
    return (parse as (...given: unknown[]) => { tokens: Token[] })(source, false, true, false).tokens;
  } catch (error) {
    const { message, loc } = error as { message: string; loc?: { line: number; column: number } };
    throw Object.assign(
      new SyntaxError(message.replace(/ \(\d+:\d+\)$/, "")),
      loc === undefined ? {} : { line: loc.line },
    );
  }
}

function isModifier(token: Token | undefined): boolean {
  return token !== undefined && MODIFIERS.has(token.type);
}

/** Reports whether a line ends after a token. */
function isBreak(source: string, tokens: readonly Token[], index: number): boolean {
  const next = tokens[index + 1];
  return next === undefined || /[\n\r]/.test(source.slice((tokens[index] as Token).end, next.start));
}

/** A namespace has code, unless it is declared. */
function isNamespace(tokens: readonly Token[], index: number): boolean {
  const { contextualKeyword } = tokens[index] as Token;
  const [, second, third] = tokens.slice(index, index + 3);
  if (contextualKeyword !== ContextualKeyword._namespace && contextualKeyword !== ContextualKeyword._module)
    return false;
  return second?.isType === true && (third?.type === tt.braceL || third?.type === tt.dot);
}

/** Reports whether a type that goes away had ended a statement. */
function needsSemicolon(source: string, first: Token, end: number, next: Token | undefined): boolean {
  if (DECLARING.has(first.contextualKeyword) && first.type === tt.name) return end - first.start > 4;
  if (next === undefined || !CONTINUING.has(next.type)) return false;
  const word = source.slice(first.start, first.end);
  return (word === "as" || word === "satisfies") && /[\n\r]/.test(source.slice(end, next.start));
}

function replaceLast(text: string, character: string): string {
  const at = text.lastIndexOf(character);
  return `${text.slice(0, at)} ${text.slice(at + 1)}`;
}

function refuse(source: string, { start }: Token, what: string): never {
  const line = source.slice(0, start).split("\n").length;
  throw Object.assign(new SyntaxError(`${what} is no type: it produces code, and only types are stripped`), { line });
}
