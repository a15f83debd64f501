import { existsSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join, resolve } from "node:path";
import { readManifest } from "./manifest.ts";

/** A place in a source. Lines and columns count from 1. */
export interface SourcePlace {
  /** The absolute path. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Finds where a bundle's top level threw an error: the innermost place in the user's own sources, or else in a
 * package's. The SDK's own files are skipped, because its errors are about its arguments.
 *
 * @param source the bundle's name in stacks: the handler module
 * @param map the bundle's, as JSON text; its sources are relative to the handler module's folder
 * @returns undefined for a value without a stack, such as a thrown text
 */
export function placeOfThrown(error: unknown, source: string, map: string): SourcePlace | undefined {
  const { stack } = Object(error) as { stack?: unknown };
  if (typeof stack !== "string") return undefined;
  const sources = new SourceMap(JSON.parse(map) as SourceMapPayload);
  const places = framesIn(stack, source)
    .flatMap(([line, column]) => originalOf(sources, line, column))
    .map((place) => ({ ...place, file: resolve(dirname(source), place.file) }))
    .filter(({ file }) => !isOfSdk(file));
  return places.find(({ file }) => !file.includes("node_modules")) ?? places[0];
}

/** Lines and columns of a file in a stack, from the innermost one on. */
function framesIn(stack: string, file: string): [line: number, column: number][] {
  return stack.split("\n").flatMap((frame) => {
    const at = /^\s+at /.test(frame) ? frame.indexOf(`${file}:`) : -1;
    const [, line, column] = (at >= 0 && /^(\d+):(\d+)/.exec(frame.slice(at + file.length + 1))) || [];
    return line === undefined ? [] : [[Number(line), Number(column)]];
  });
}

function originalOf(map: SourceMap, line: number, column: number): SourcePlace[] {
  const found = map.findEntry(line - 1, column - 1);
  // For code without a source, the map returns an entry of an earlier line.
  if (!("originalSource" in found) || found.generatedLine !== line - 1) return [];
  return [{ file: found.originalSource, line: found.originalLine + 1, column: found.originalColumn + 1 }];
}

/** Reports whether a file is one of the SDK's own, installed or linked, by the nearest `package.json`. */
function isOfSdk(file: string): boolean {
  for (let at = dirname(file); ; at = dirname(at)) {
    const manifest = join(at, "package.json");
    if (existsSync(manifest)) return readManifest(manifest).content["name"] === "@tenon/sdk";
    if (at === dirname(at)) return false;
  }
}
