import { compileFunction, createContext, runInContext } from "node:vm";
import { parseSync } from "oxc-parser";

/**
 * Runs an ES module that has `await` at its top level, and does not return before that is through: documents are made
 * synchronously. A realm of its own has a queue of promises of its own, which can be worked off at once, and as in a build
 * nothing else is to be waited for.
 *
 * @param code as esbuild writes it, with exports in one list
 * @param module gets the default export
 * @param absent is called with the name of each module that was not bundled
 * @returns whether it came to its end; if not, it awaits what only comes later, such as a timer
 * @throws what its top level throws
 */
export function runAwaiting(
  code: string,
  module: { exports: { default?: unknown } },
  absent: (name: string) => unknown,
  filename: string,
): boolean {
  const context = createContext(nodeGlobals(), { microtaskMode: "afterEvaluate" });
  const state: { done: boolean; error?: { readonly value: unknown } } = { done: false };
  // What follows a promise has to be code of that realm, to be in its queue.
  const body = `"use strict";
(async () => {
${asFunctionBody(code)}
})().then(
  () => { state.done = true; },
  (value) => { state.error = { value }; },
);`;
  // Lines are told as those of the code: two stand before it.
  const options = { filename, parsingContext: context, lineOffset: -2 };
  const run = compileFunction(body, ["module", "require", "state"], options);
  run(module, absent, state);
  runInContext("", context);
  if (state.error !== undefined) throw state.error.value;
  return state.done;
}

/** Import statements become calls of `require`, the list of exports an assignment to `module.exports`. */
function asFunctionBody(code: string): string {
  const { staticImports, staticExports } = parseSync("bundle.mjs", code).module;
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

/** What a new realm lacks of Node's globals, each taken when it is asked for: some of them are loaded by that. */
function nodeGlobals(): object {
  const own = new Set<string>(runInContext("Object.getOwnPropertyNames(globalThis)", createContext()));
  const globals = { console };
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (own.has(name)) continue;
    Object.defineProperty(globals, name, { configurable: true, get: () => Reflect.get(globalThis, name) });
  }
  return globals;
}
