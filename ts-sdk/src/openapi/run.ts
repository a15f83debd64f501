import { Console } from "node:console";
import { Script } from "node:vm";
import { OpenApiError } from "./errors.ts";

/** The time limit of a top level, in milliseconds: the same as in a build. */
const MAX_RUN_MS = 30_000;

/** The key of the function that a time-limited script runs. */
const runName = "tenon.openapi.run";
const runKey = Symbol.for(runName);

/** As in a build, timers of a top level never fire. */
const noTimer = () => 0;

/**
 * Runs a module's top level in this process. Its output goes to standard error, because standard output is the
 * command's own. Its timers never fire, and its time is limited.
 *
 * @throws the module's exception, or an OpenApiError when it runs too long
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
    // Only a script's run, with all functions that it calls, can be interrupted.
    new Script(`globalThis[Symbol.for(${JSON.stringify(runName)})]()`).runInThisContext({
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
