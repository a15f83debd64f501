/** Explains the failures of a top level by places in the user's sources. */
import { basename, relative, resolve } from "node:path";
import { circleOf } from "@tenon/sdk/import-circle";
import { TenonError } from "../errors.ts";
import type { Bundle } from "./bundle.ts";
import { codeFrame } from "./code-frame.ts";
import { defaultExportOf } from "./default-export.ts";
import { type Failure, failureIn, placesIn, rejectionIn } from "./engine-output.ts";
import { appForms, entryName } from "./entry.ts";
import { isOfGuest } from "./guest-folders.ts";
import { isOfSdk } from "./sdk-names.ts";
import { SourceMap, type SourcePosition } from "./source-map.ts";

/** The entry's error about routes that are declared and in no app. */
const LOST = "no routes() has ";

/** The SDK's error about an empty default export, and its errors about a module that has no app or several. */
const NO_EXPORT = "it has no default export";
const APPS = /^TypeError: it has (?:no|a) default export and /;

/** The hint for a failing top level. */
const topLevelHint =
  "the top level runs while building: time, random values, environment and calls to the outside belong into handlers";

/**
 * Turns the addon's error about a top level into one that points into the user's sources; others stay as they are.
 *
 * @param hint in the place of the usual one
 */
export async function topLevelError(error: unknown, bundle: Bundle, hint?: string): Promise<unknown> {
  if (!(error instanceof TenonError)) return error;
  switch (error.code) {
    case "TOP_LEVEL":
      return withHint(await explain(error.message, bundle), hint);
    case "TOP_LEVEL_CALL":
    case "TOP_LEVEL_ENDLESS":
    case "TOP_LEVEL_MEMORY":
      return new TenonError("BUILD", `${shown(bundle)}: ${error.message}`, topLevelHint, error);
    default:
      return error;
  }
}

function withHint(error: TenonError, hint: string | undefined): TenonError {
  return hint === undefined ? error : new TenonError(error.code, error.message, hint, error);
}

/** The innermost place in the user's own sources, or else in a package, as `src/app.ts:3`. */
export async function innermostPlace(
  frames: readonly { readonly line: number; readonly column: number }[],
  bundle: Bundle,
): Promise<string> {
  const place = await placeToTell(placesOf(frames, await SourceMap.read(bundle.sourceMap)));
  return place === undefined ? shown(bundle) : `${place.file}:${place.line}`;
}

/** Turns the engine's output into an error that points into the user's sources. */
export function explain(output: string, bundle: Bundle): Promise<TenonError> {
  return errorOf(failureIn(output, basename(bundle.file)), bundle);
}

/**
 * Refuses a top level that ended well and left a promise rejected.
 *
 * @param printed the engine's output
 * @throws TenonError `BUILD` with the place in the TypeScript
 */
export async function requireHandled(printed: string, bundle: Bundle): Promise<void> {
  const rejected = rejectionIn(printed, basename(bundle.file));
  if (rejected !== undefined) throw await errorOf(rejected, bundle);
}

/**
 * Removes the lines of the module `random-while-building` from a top level's output: each names a caller of random
 * functions.
 *
 * @throws TenonError `BUILD` when that is the user's own code, which can call them in a handler
 */
export async function randomPlaces(
  printed: string,
  bundle: Bundle,
): Promise<{ readonly printed: string; readonly warnings: readonly string[] }> {
  const lines = printed.split("\n");
  const marked = lines.filter((line) => line.startsWith("tenon-random "));
  if (marked.length === 0) return { printed, warnings: [] };
  const map = await SourceMap.read(bundle.sourceMap);
  const warnings = new Set<string>();
  for (const line of marked) {
    const places = placesOf(placesIn(line, basename(bundle.file)), map);
    const told: SourcePosition[] = [];
    for (const place of places) if (!(await isInner(place))) told.push(place);
    const [innermost] = told;
    if (innermost !== undefined && !innermost.file.includes("node_modules")) {
      const { file, line, column, text = "" } = innermost;
      const said = `${file}:${line}:${column}: the module's top level failed: random values work in a handler, not at top level`;
      throw new TenonError("BUILD", `${said}\n${codeFrame(text, line, column)}`, topLevelHint);
    }
    const where = innermost === undefined ? shown(bundle) : `${innermost.file}:${innermost.line}`;
    warnings.add(`${where}: random values at top level are the same in every instance of the component`);
  }
  return { printed: lines.filter((line) => !marked.includes(line)).join("\n"), warnings: [...warnings] };
}

/** Reports whether a top level failed because it called the host. The host's random values are such a call. */
export function isHostCall(error: unknown): boolean {
  return error instanceof TenonError && error.cause instanceof TenonError && error.cause.code === "TOP_LEVEL_CALL";
}

const placesOf = (frames: readonly { line: number; column: number }[], map: SourceMap) =>
  frames
    .map(({ line, column }) => map.place(line, column))
    .filter((place): place is SourcePosition => place !== undefined);

async function errorOf({ reason, frames }: Failure, bundle: Bundle): Promise<TenonError> {
  const map = await SourceMap.read(bundle.sourceMap);
  const places = placesOf(frames, map);
  // An exception of the entry concerns the handler module as a whole.
  if (APPS.test(reason) || (places[0] !== undefined && isOfEntry(places[0]))) return wrongExport(reason, bundle);
  const place = await placeToTell(places);
  const circle = place && (await isOfArguments(reason, places[0])) ? circleOf(reason, place.file, bundle.imports) : "";
  const said = reason.includes(LOST)
    ? reason.replace(/^Error: /, "")
    : `the module's top level failed: ${reason}${circle}`;
  const hint = (await isOfArguments(reason, places[0])) ? undefined : hintFor(reason);
  if (place === undefined) return new TenonError("BUILD", `${shown(bundle)}: ${said}`, hint);
  const code = place.text === undefined ? "" : `\n${codeFrame(place.text, place.line, place.column)}`;
  return new TenonError("BUILD", `${place.file}:${place.line}:${place.column}: ${said}${code}`, hint);
}

/** Reports whether the SDK refuses what its function was called with, such as a wrong path: that says what to do by itself. */
async function isOfArguments(reason: string, innermost: SourcePosition | undefined): Promise<boolean> {
  // The classes of `fetch` are the SDK's, and the refusal is the engine's.
  if (reason.includes("during request handling")) return false;
  return reason.startsWith("TypeError: ") && innermost !== undefined && (await isOfSdk(innermost.file));
}

/** The error about an exported value, at the default export if the handler module has one. */
async function wrongExport(reason: string, bundle: Bundle): Promise<TenonError> {
  const said = reason.replace(/^TypeError: /, "");
  const found = await defaultExportOf(bundle.source);
  if (found === undefined) return new TenonError("BUILD", `${shown(bundle)}: ${said}`);
  const { line, column, text, code } = found;
  const isShort = code.length <= 40 && !code.includes("\n");
  const empty = `the default export is ${isShort ? code : "empty"}: ${appForms}`;
  const told = said.startsWith(NO_EXPORT) ? empty : said;
  return new TenonError("BUILD", `${shown(bundle)}:${line}:${column}: ${told}\n${codeFrame(text, line, column)}`);
}

/**
 * The innermost place in the user's own files, or else in a package. The SDK's files are skipped, because its errors
 * are about its arguments.
 */
async function placeToTell(places: readonly SourcePosition[]): Promise<SourcePosition | undefined> {
  let inPackage: SourcePosition | undefined;
  for (const place of places) {
    if (await isInner(place)) continue;
    if (!place.file.includes("node_modules")) return place;
    inPackage ??= place;
  }
  return inPackage;
}

/** Reports whether a place is in code that the build adds to the user's sources. */
async function isInner(place: SourcePosition): Promise<boolean> {
  return isOfEntry(place) || isOfGuest(resolve(place.file)) || isOfSdk(place.file);
}

const isOfEntry = ({ file }: SourcePosition) => basename(file) === entryName;

const shown = ({ source }: Bundle) => relative(process.cwd(), source);

function hintFor(reason: string): string | undefined {
  if (reason.startsWith("TypeError: it has routes and a listener of fetch")) return undefined;
  if (reason.includes(LOST)) {
    return (
      "a later definition of the same name replaces an earlier one where modules are spread into one object: give each module " +
      "a group(…); a route that is not meant to be served need not be declared"
    );
  }
  if (reason.startsWith("uncaught exception:")) return "throw an Error instead, which knows its place";
  return topLevelHint;
}
