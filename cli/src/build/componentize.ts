import { fork } from "node:child_process";
import { basename } from "node:path";
import { TenonError } from "../errors.ts";
import { witFolder } from "../package.ts";
import type { Bundle } from "./bundle.ts";
import { codeFrame, type Place, SourceMap } from "./place.ts";

/**
 * Makes a component of a bundle: runs its top level inside the JavaScript engine and keeps the result. What does it is
 * behind this type, so that a quicker way can take its place.
 */
export type Componentizer = (bundle: Bundle) => Promise<Uint8Array>;

/** What the child process is told. */
export interface ComponentizeRequest {
  readonly sourcePath: string;
  readonly witPath: string;
  readonly worldName: string;
}

/** What the child process answers. */
export type ComponentizeResult = { readonly component: Uint8Array } | { readonly error: string };

/**
 * The way of `@bytecodealliance/componentize-js` itself. It waits for a program synchronously and for seconds, and hands
 * its own standard output on to it, so it gets a process of its own.
 *
 * @throws TenonError `BUILD` with the place in the TypeScript when the module's top level throws
 */
export const referenceComponentizer: Componentizer = async (bundle) => {
  const request: ComponentizeRequest = { sourcePath: bundle.file, witPath: witFolder, worldName: "handler-glue" };
  const result = await inChild(request);
  if ("component" in result) return result.component;
  throw await explain(result.error, bundle);
};

function inChild(request: ComponentizeRequest): Promise<ComponentizeResult> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL("./componentize-child.js", import.meta.url), {
      // Keeps bytes as bytes on their way back.
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    let errors = "";
    child.stderr?.on("data", (data) => {
      errors += data;
    });
    child.once("message", (result) => resolve(result as ComponentizeResult));
    child.once("error", reject);
    // The message, if there was one, comes first.
    child.once("close", (code) =>
      resolve({ error: errors.trim() || `componentize-js ended with ${code} and no result` }),
    );
    child.send(request);
  });
}

/** Turns what the engine printed into an error that points into the user's sources. */
async function explain(output: string, bundle: Bundle): Promise<TenonError> {
  const map = await SourceMap.read(bundle.sourceMap);
  const frame = new RegExp(`${basename(bundle.file).replaceAll(".", "\\.")}:(\\d+):(\\d+)`, "g");
  const places = [...output.matchAll(frame)]
    .map(([, line, column]) => map.place(Number(line), Number(column)))
    .filter((place): place is Place => place !== undefined);
  const exception =
    /(?:Exception while evaluating top-level script|Exception|Error)[^\n]*\n?\s*(?:\([^)]*\): )?([^\n]+)/.exec(output);
  const reason = exception?.[1]?.trim() ?? output.trim();
  const [first] = places.filter((place) => !place.file.includes("node_modules"));
  if (first === undefined)
    return new TenonError("BUILD", `the module's top level failed: ${reason}`, undefined, output);
  const shown = first.text === undefined ? "" : `\n${codeFrame(first.text, first.line, first.column)}`;
  return new TenonError(
    "BUILD",
    `${first.file}:${first.line}:${first.column}: the module's top level failed: ${reason}${shown}`,
    "the top level runs while building: time, random values, environment and calls to the outside belong into handlers",
    output,
  );
}
