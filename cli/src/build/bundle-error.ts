/** Errors of esbuild as errors of a build, with their places. */
import { join, relative } from "node:path";
import type { Location, Message } from "esbuild";
import { TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";
import { codeFrame } from "./code-frame.ts";
import { entryName } from "./entry.ts";
import { withOneInstall } from "./intl/missing.ts";

/**
 * Turns esbuild's messages into an error with file, line, column and the line itself, for each failure.
 *
 * @param remarkOn what is to be added to a message's text, if anything
 */
export function bundleError(
  project: Project,
  messages: readonly Message[],
  remarkOn: (text: string) => readonly string[],
): TenonError {
  for (const { text } of messages) {
    const [, file, reason] = UNWRITTEN.exec(text) ?? [];
    if (file !== undefined) return new TenonError("WRITE", `cannot write ${relative(process.cwd(), file)}: ${reason}`);
  }
  const shown = withOneInstall(withoutRepeated(messages)).map((message) => {
    const { text, location } = message;
    const remarks = [...remarksOn(message), ...remarkOn(text)].map((remark) => `\n  ${remark}`);
    if (!isInSource(location)) {
      const source = relative(process.cwd(), project.source);
      return [`${source}: ${text}`, ...remarks].join("");
    }
    const { line, lineText } = location;
    const [column, length] = inCharacters(location);
    const file = relative(process.cwd(), join(project.folder, location.file));
    const place = `${file}:${line}:${column}: ${text}`;
    return [`${place}\n${codeFrame(lineText, line, column, length)}`, ...remarks].join("");
  });
  return new TenonError("BUILD", shown.join("\n"));
}

/** esbuild's message about its output. */
const UNWRITTEN = /^Failed to write to output file: \w+ (.+): ([^:]+)$/;

/** Reports whether bundling failed only because the handler module has no default export. */
export function lacksDefault(error: unknown): boolean {
  const { errors = [] } = Object(error) as { readonly errors?: readonly Message[] };
  return (
    errors.length === 1 &&
    errors.every(({ text, location }) => !isInSource(location) && text.endsWith('for import "default"'))
  );
}

/** Reports whether a place is in a source file, not in generated code. */
function isInSource(location: Location | null): location is Location {
  return location !== null && location.file !== entryName && !location.file.startsWith("<");
}

/** Converts esbuild's columns, which count bytes from 0, to characters from 1, and the length of the marked text. */
function inCharacters({ lineText, column, length }: Location): [column: number, length: number] {
  const bytes = Buffer.from(lineText);
  const characters = (start: number, end: number) => bytes.toString("utf8", start, end).length;
  return [characters(0, column) + 1, characters(column, column + length)];
}

/**
 * Removes repeated errors of a missing package, which is missing wherever it is imported: one remains, in a file of the
 * user's if possible.
 */
function withoutRepeated(messages: readonly Message[]): Message[] {
  return messages.filter((message) => {
    if (missingPackage(message) === undefined) return true;
    const same = messages.filter(({ text }) => text === message.text);
    return message === (same.find(({ location }) => isInSource(location)) ?? same[0]);
  });
}

/**
 * Returns the remarks of an error, without esbuild's advice to mark imports as external, its notes on plugins, and the colon in
 * front of lines that it shows.
 */
function remarksOn(message: Message): string[] {
  const missing = missingPackage(message);
  if (missing !== undefined)
    return [`install it: \`npm install\` when package.json names it, otherwise \`npm install ${missing}\``];
  return ownNotes(message);
}

const ownNotes = ({ notes }: Message): string[] =>
  notes
    .map(({ text }) => text.replace(/:$/, ""))
    .filter((text) => !/^You can mark the path .* as external|^The plugin ".*" was triggered/.test(text));

/** The package that is not installed. For an installed one that lacks the import, esbuild's message is better. */
function missingPackage(message: Message): string | undefined {
  const unresolved = /^Could not resolve "((?:@[a-z0-9][\w.~-]*\/)?[a-z0-9][\w.~-]*)(?:\/[^"]*)?"$/.exec(message.text);
  return ownNotes(message).length === 0 ? unresolved?.[1] : undefined;
}
