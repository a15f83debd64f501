import { Console } from "node:console";
import { Script } from "node:vm";
import { OpenApiError } from "./errors.ts";

/** How long a top level may run, in milliseconds: as long as in a build. */
const MAX_RUN_MS = 30_000;

/** What is to run, where the script finds it that bounds its time. */
const runKey = Symbol.for("tenon.openapi.run");

/** As in a build, a timer that a top level leaves behind is not run. */
const noTimer = () => 0;

/**
 * Runs a module's top level in this process, which goes on after it: what it prints goes to standard error, since
 * standard output is the command's own; no timer of it runs; and it ends.
 *
 * @throws what it throws, or an OpenApiError when it runs too long
 */
export function runTopLevel<T>(run: () => T, limit: number = MAX_RUN_MS): T {
  const here = globalThis as unknown as Record<string | symbol, unknown>;
  const { console, setTimeout, setInterval, setImmediate } = globalThis;
  let result: { readonly value: T } | undefined;
  Object.assign(here, {
    console: new Console(process.stderr, process.stderr),
    setTimeout: noTimer,
    setInterval: noTimer,
    setImmediate: noTimer,
    [runKey]: () => {
      result = { value: run() };
    },
  });
  try {
    // Of all that is synchronous only a script can be told when to stop, with what it calls.
    new Script('globalThis[Symbol.for("tenon.openapi.run")]()').runInThisContext({
      timeout: limit,
      displayErrors: false,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    throw new OpenApiError(`the module's top level runs for more than ${limit / 1000} s`);
  } finally {
    Object.assign(here, { console, setTimeout, setInterval, setImmediate });
    delete here[runKey];
  }
  return (result as { readonly value: T }).value;
}
