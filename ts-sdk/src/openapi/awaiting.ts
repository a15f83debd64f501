import { compileFunction, createContext, runInContext } from "node:vm";
import { MARK, type MarkedBundle } from "./marks.ts";
import { ofBuild } from "./of-build.ts";

/**
 * Runs an ES module that has `await` at its top level, synchronously, because documents are made synchronously. A realm
 * of its own has its own queue of promise jobs, which can be drained at once. As in a build, the module may wait for
 * nothing else.
 *
 * @param marked as esbuild writes it, with one list of exports
 * @param module gets the default export
 * @param absent is called with the name of each module that was not bundled
 * @returns whether it ended; if not, it waits for something later, such as a timer
 * @throws the module's exception
 */
export function runAwaiting(
  marked: MarkedBundle,
  module: { exports: { default?: unknown } },
  absent: (name: string) => unknown,
  filename: string,
): boolean {
  const context = createContext(nodeGlobals(), { microtaskMode: "afterEvaluate" });
  const state: { done: boolean; error?: { readonly value: unknown } } = { done: false };
  // A promise's callbacks have to be code of that realm, to be in its queue.
  const body = `"use strict";
(async () => {
${asFunctionBody(marked.code)}
})().then(
  () => { state.done = true; },
  (value) => { state.error = { value }; },
);`;
  // Corrects line numbers by the two lines in front of the code.
  const options = { filename, parsingContext: context, lineOffset: -2 };
  const run = compileFunction(body, ["module", "require", "state", MARK], options);
  run(module, absent, state, marked.mark);
  runInContext("", context);
  if (state.error !== undefined) throw state.error.value;
  return state.done;
}

/** Turns import statements into calls of `require`, and the list of exports into an assignment to `module.exports`. */
function asFunctionBody(code: string): string {
  const { staticImports, staticExports } = ofBuild("oxc-parser").parseSync("bundle.mjs", code).module;
  const imports = staticImports.map(({ start, end, moduleRequest }) => ({
    start,
    end,
    text: call(moduleRequest.value),
  }));
  const exports = staticExports.map(({ start, end, entries }) => ({
    start,
    end,
    text: entries
      .map(({ exportName, localName, moduleRequest }) => {
        if (moduleRequest) return call(moduleRequest.value);
        return exportName.name === "default" ? `module.exports.default = ${localName.name};` : "";
      })
      .join(""),
  }));
  const statements = [...imports, ...exports].sort((a, b) => b.start - a.start);
  return statements.reduce((text, { start, end, text: by }) => text.slice(0, start) + by + text.slice(end), code);
}

function call(specifier: string): string {
  return `require(${JSON.stringify(specifier)});`;
}

/** Node's globals that a new realm lacks, each read on demand, because some of them are loaded by that. */
function nodeGlobals(): object {
  const own = new Set<string>(runInContext("Object.getOwnPropertyNames(globalThis)", createContext()));
  const globals = { console };
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (own.has(name)) continue;
    Object.defineProperty(globals, name, { configurable: true, get: () => Reflect.get(globalThis, name) });
  }
  return globals;
}
