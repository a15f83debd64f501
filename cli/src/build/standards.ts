/** The polyfills that make the engine's globals work as their standards have it, and the names that need them. */
import { globalsIn } from "./global-uses.ts";

/** For each polyfill, the globals that it mends; a name that begins with a dot is a member of objects that come from elsewhere. */
const standards: Readonly<Record<string, readonly string[]>> = {
  abort: ["AbortSignal", "AbortController", ".throwIfAborted"],
  decompression: ["DecompressionStream"],
  fetch: ["fetch", "Request", "Response", "Headers"],
  streams: ["ReadableStream", "WritableStream", "TransformStream", ".pipeTo", ".pipeThrough", ".tee"],
  "url-statics": [".canParse"],
};

const all = Object.values(standards).flat();
const globals = new Set(all.filter((name) => !name.startsWith(".")));
/** A class counts as a member of any object, which may be the global one. */
const members = new Set(all.filter((name) => /^[.A-Z]/.test(name)).map((name) => name.replace(".", "")));
const mayUse = new RegExp(`\\b(?:${[...globals, ...members].join("|")})\\b`);

/** Returns the polyfills that a source needs. */
export function standardsIn(file: string, text: string): readonly string[] {
  if (!mayUse.test(text) && !urlParse.test(text)) return [];
  const used = globalsIn(file, text, globals, members);
  const polyfills = Object.keys(standards).filter((name) =>
    standards[name]?.some((each) => used.has(each.replace(".", ""))),
  );
  return urlParse.test(text) ? [...polyfills, "url-statics"] : polyfills;
}

/** Many objects have a method of that name. */
const urlParse = /\bURL\.parse\b/;
