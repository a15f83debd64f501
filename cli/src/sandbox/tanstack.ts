/**
 * `tenon/sandbox/tanstack`: the isolate driver of `@tanstack/ai-code-mode`. Code of a model runs in a sandbox of this process:
 * `createCodeMode({ tools, driver: createSandboxDriver(runtime) })`.
 */
import type { Runtime } from "../embed/runtime.ts";
import { refuseWrongSandbox } from "./check-options.ts";
import { evaluateCode } from "./function-body.ts";
import type { SandboxLimits } from "./limits.ts";
import { type AnyTool, tool } from "./tool.ts";
import { byIdentifier } from "./tool-names.ts";

/** A tool, as the package gives it to a driver. */
export interface ToolBinding {
  readonly name: string;
  readonly description: string;
  readonly execute: (args: unknown) => Promise<unknown>;
}

/** The configuration of a context. */
export interface IsolateConfig {
  /** Tools by the names of their globals. */
  readonly bindings: Readonly<Record<string, ToolBinding>>;
  /** Milliseconds; 30,000 when left out. */
  readonly timeout?: number;
  /** MiB; 128 when left out. */
  readonly memoryLimit?: number;
}

/** The result of an execution. */
export interface ExecutionResult<T = unknown> {
  success: boolean;
  value?: T;
  error?: { name: string; message: string; stack?: string; code?: string };
  logs?: string[];
}

/** A context, in which each execution has an instance of its own. */
export interface IsolateContext {
  readonly execute: <T = unknown>(code: string) => Promise<ExecutionResult<T>>;
  readonly dispose: () => Promise<void>;
}

/** Makes contexts. */
export interface IsolateDriver {
  readonly createContext: (config: IsolateConfig) => Promise<IsolateContext>;
}

/**
 * Makes a driver. `limits` hold besides the timeout and the memory that the package asks for: the lower ones do.
 *
 * @throws TenonError `CONFIG` when a limit is wrong
 */
export function createSandboxDriver(runtime: Runtime, limits: SandboxLimits = {}): IsolateDriver {
  refuseWrongSandbox({ limits });
  const { wallMs = Number.POSITIVE_INFINITY, memoryBytes = Number.POSITIVE_INFINITY } = limits;
  return {
    createContext: async ({ bindings, timeout = 30_000, memoryLimit = 128 }) => {
      const entries = byIdentifier(bindings).map(([name, { description, execute }]): [string, AnyTool] => {
        // The package validates arguments, and shows errors to the model.
        return [name, tool({ description, publicErrors: true, run: (args: unknown) => execute(args ?? {}) })];
      });
      const sandbox = await runtime.sandbox({
        tools: Object.fromEntries(entries),
        limits: {
          ...limits,
          wallMs: Math.min(wallMs, timeout),
          memoryBytes: Math.min(memoryBytes, memoryLimit * 2 ** 20),
        },
      });
      return {
        execute: async <T>(code: string): Promise<ExecutionResult<T>> => {
          const done = await evaluateCode(sandbox, code, {});
          const logs = done.logs.map(({ level, message }) => (level === "error" ? `ERROR: ${message}` : message));
          if (done.ok) return { success: true, value: done.value as T, logs };
          const { kind, name, message, stack, limit } = done.error;
          const error = {
            name: name ?? "Error",
            message,
            code: limit ?? kind,
            ...(stack === undefined ? {} : { stack }),
          };
          return { success: false, error, logs };
        },
        dispose: () => sandbox.close(),
      };
    },
  };
}
