import { basename } from "node:path";
import { TenonError } from "../errors.ts";
import type { Bundle } from "./bundle.ts";
import { codeFrame } from "./code-frame.ts";
import { type Place, SourceMap } from "./place.ts";

/** What to do about a top level that fails. */
const topLevelHint =
  "the top level runs while building: time, random values, environment and calls to the outside belong into handlers";

/** Turns the addon's error about a top level into one that points into the user's sources; others stay as they are. */
export async function topLevelError(error: unknown, bundle: Bundle): Promise<unknown> {
  if (!(error instanceof TenonError)) return error;
  switch (error.code) {
    case "TOP_LEVEL":
      return explain(error.message, bundle);
    case "TOP_LEVEL_CALL":
    case "TOP_LEVEL_ENDLESS":
    case "TOP_LEVEL_MEMORY":
      return new TenonError("BUILD", error.message, topLevelHint, error);
    default:
      return error;
  }
}

/** Turns what the engine printed into an error that points into the user's sources. */
export async function explain(output: string, bundle: Bundle): Promise<TenonError> {
  const map = await SourceMap.read(bundle.sourceMap);
  const frame = new RegExp(`${basename(bundle.file).replaceAll(".", "\\.")}:(\\d+):(\\d+)`, "g");
  const places = [...output.matchAll(frame)]
    .map(([, line, column]) => map.place(Number(line), Number(column)))
    .filter((place): place is Place => place !== undefined);
  const reason = reasonIn(output);
  const [first] = places.filter((place) => !place.file.includes("node_modules"));
  if (first === undefined)
    return new TenonError("BUILD", `the module's top level failed: ${reason}`, topLevelHint, output);
  const shown = first.text === undefined ? "" : `\n${codeFrame(first.text, first.line, first.column)}`;
  return new TenonError(
    "BUILD",
    `${first.file}:${first.line}:${first.column}: the module's top level failed: ${reason}${shown}`,
    hintFor(reason),
    output,
  );
}

/** The line that says what was thrown. */
function reasonIn(output: string): string {
  // What the engine's C++ says when the clock is asked for before there is a request.
  if (output.includes("bad_optional_access")) {
    return "it calls what exists only while a request is answered, such as performance.now()";
  }
  const exception =
    /(?:Exception while evaluating top-level script|Exception|Error)[^\n]*\n?\s*(?:\([^)]*\): )?([^\n]+)/.exec(output);
  return exception?.[1]?.trim() ?? output.trim();
}

function hintFor(reason: string): string {
  if (/invalid property name in regular expression/.test(reason)) {
    return "the JavaScript engine has no tables of Unicode: write the characters out, such as [A-Za-zÀ-ÖØ-öø-ÿ], instead of \\p{…}";
  }
  return topLevelHint;
}
