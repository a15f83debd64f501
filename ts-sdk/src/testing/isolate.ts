/**
 * The isolate of code mode for tests in Node, where the engine's is not. A program has a context of `node:vm`: it finds no more than in a
 * component, but nothing protects the process from one that means to harm it, and memory has no limit.
 */
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { buildSync, transformSync } from "esbuild";
import { parseSync } from "oxc-parser";
import type { Isolate } from "../mcp/code/types.ts";

/** `exchange` returns it when the program is out of time. */
const OUT_OF_TIME = 1;

/** The first text, as in a component, with the functions that replace the engine's. */
function firstText(): string {
  const compiled = fileURLToPath(new URL("../mcp/code/program.js", import.meta.url));
  const { outputFiles } = buildSync({
    entryPoints: [existsSync(compiled) ? compiled : compiled.replace(/js$/, "ts")],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "neutral",
  });
  // The program that starts deletes all globals that a component lacks. A context of Node has none of the web's. Node's own
  // queueMicrotask would run a callback outside of the program's time.
  return `globalThis.queueMicrotask = (callback) => {
    Promise.resolve().then(() => callback()).catch(() => {});
  };
  const tenonExchange = ((convert, strip) => {
  const module = { exports: {} };
  ${outputFiles[0]?.text}
  return module.exports.start((source) => {
    const exports = {};
    return [(0, eval)(convert(source))(exports), exports];
  }, strip);
})(convert, strip);`;
}

/** Returns a module as a text whose value is a function, which evaluates it. */
function convert(source: string): string {
  const { program, errors } = parseSync("program.js", source);
  const [error] = errors;
  if (error !== undefined) throw new SyntaxError(error.message);
  let code = source;
  const statements = program.body;
  const last = statements.at(-1);
  const hasDefault = statements.some(({ type }) => type === "ExportDefaultDeclaration");
  for (const statement of [...statements].reverse()) {
    const { type, start, end } = statement;
    if (type === "ExportDefaultDeclaration") {
      code = `${code.slice(0, start)}exports.default = ${code.slice(statement.declaration.start)}`;
    } else if (type === "ExportNamedDeclaration" && statement.declaration != null) {
      code = code.slice(0, start) + code.slice(statement.declaration.start);
    } else if (type === "ExpressionStatement" && statement === last && !hasDefault) {
      const { expression } = statement;
      const value = code.slice(expression.start, expression.end);
      code = `${code.slice(0, start)}exports.default = (${value});${code.slice(end)}`;
    }
  }
  return `(async (exports) => { "use strict"; ${code}\n})`;
}

function strip(source: string): string {
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
  return transformSync(source, { loader: "ts", target: "esnext", tsconfigRaw, logLevel: "silent" }).code;
}

let first: string | undefined;

/** Isolates in contexts of Node. */
export const nodeIsolate: Isolate = {
  open() {
    first ??= firstText();
    const context = createContext({ convert, strip, atob, btoa, DOMException }, { microtaskMode: "afterEvaluate" });
    new Script(first, { filename: "isolate.js" }).runInContext(context);
    let usedMs = 0;
    const run = (code: string, timeout: number): unknown => {
      const begun = performance.now();
      try {
        return new Script(code, { filename: "isolate.js" }).runInContext(context, { timeout });
      } finally {
        usedMs += performance.now() - begun;
      }
    };
    return {
      exchange(text, cpuUs) {
        const left = Math.max(1, Math.ceil(cpuUs / 1000 - usedMs));
        try {
          // Jobs run at the end of an evaluation.
          run(`tenonExchange(${JSON.stringify(text)})`, left);
          const said = run("tenonExchange()", left);
          return typeof said === "string" ? said : 0;
        } catch (error) {
          if ((error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return OUT_OF_TIME;
          throw error;
        }
      },
      usage: () => [Math.round(usedMs * 1000), 0],
    };
  },
  hmac: (key, data) => createHmac("sha256", key).update(data).digest(),
};
