import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { BundleSources, SourcePlace } from "./bundle-sources.ts";
import { readManifest } from "./manifest.ts";
import type { MarkedBundle } from "./marks.ts";

/**
 * Finds where a bundle's top level threw an error: the innermost place in the user's own sources, or else in a
 * package's. The SDK's own files are skipped, because its errors are about its arguments.
 *
 * @param source the bundle's name in stacks: the handler module
 * @returns undefined for a value without a stack, such as a thrown text
 */
export function placeOfThrown(
  error: unknown,
  source: string,
  marked: MarkedBundle,
  sources: BundleSources,
): SourcePlace | undefined {
  const { stack } = Object(error) as { stack?: unknown };
  if (typeof stack !== "string") return undefined;
  const places = framesIn(stack, source)
    .flatMap(([line, column]) => sources.placeOf(line - 1, marked.columnOf(line - 1, column - 1)) ?? [])
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

/** Reports whether a file is one of the SDK's own, installed or linked, by the nearest `package.json`. */
export function isOfSdk(file: string): boolean {
  for (let at = dirname(file); ; at = dirname(at)) {
    const manifest = join(at, "package.json");
    if (existsSync(manifest)) {
      return readManifest(manifest).content["name"] === "@tenon/sdk" && /^(?:src|dist)\b/.test(relative(at, file));
    }
    if (at === dirname(at)) return false;
  }
}
