/** Code of models: a module, an expression, or the body of a function. */
import type { Evaluated, EvaluateOptions, Sandbox } from "./sandbox.ts";

/** Evaluates code, which may be the body of an asynchronous function with `return`. */
export async function evaluateCode(sandbox: Sandbox, code: string, options: EvaluateOptions): Promise<Evaluated> {
  const done = await sandbox.evaluate(code, options);
  // Code that has run must not run twice, and a script that takes its engine over could say that it has not.
  const isBody = !done.ok && done.error.kind === "syntax" && done.usage.calls === 0 && /\breturn\b/.test(code);
  // The first line stays the first one, so that lines in errors are right.
  return isBody ? sandbox.evaluate(`async () => {${code}\n}`, options) : done;
}
