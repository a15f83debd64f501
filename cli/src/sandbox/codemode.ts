/**
 * `tenon/sandbox/codemode`: the executor of `@cloudflare/codemode`. Code of a model runs in a sandbox of this process in the place of a
 * Worker: `createCodeTool({ tools, executor: new SandboxExecutor(sandbox) })`.
 */
import { evaluateCode } from "./function-body.ts";
import type { Sandbox } from "./sandbox.ts";
import { type AnyTool, tool } from "./tool.ts";
import { byIdentifier } from "./tool-names.ts";

/** The result of an execution, as the package has it. */
export interface ExecuteResult {
  readonly result: unknown;
  readonly error?: string;
  readonly logs?: string[];
}

type Fns = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;

/** Functions under a name, as the package resolves them. */
export interface Provider {
  readonly name: string;
  readonly fns: Fns;
  /** Code that runs before the model's. */
  readonly prelude?: string;
}

/** Executes the code of a model in a {@link Sandbox}, whose limits hold for each execution. */
export class SandboxExecutor {
  readonly #sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Executes code: the text of an asynchronous function. Every failure is in `error`. */
  async execute(code: string, providers: readonly Provider[] | Fns): Promise<ExecuteResult> {
    const all: readonly Provider[] = Array.isArray(providers)
      ? (providers as readonly Provider[])
      : [{ name: "codemode", fns: providers as Fns }];
    try {
      const names = new Set(all.map(({ name }) => name));
      if (names.size < all.length) throw new TypeError("two providers have the same name");
      const tools = Object.fromEntries(all.map(({ name, fns }) => [name, toolsOf(fns)]));
      const before = [...all.map(({ name }) => namespace(name)), ...all.map(({ prelude = "" }) => prelude)];
      const source = `${before.join("\n;")}\n;${code}`;
      const done = await evaluateCode(this.#sandbox, source, { tools });
      const logs = done.logs.map(({ level, message }) => (level === "error" ? `[error] ${message}` : message));
      if (done.ok) return { result: done.value, logs };
      const { kind, limit, message } = done.error;
      return { result: undefined, error: kind === "limit" ? `${limit}: ${message}` : message, logs };
    } catch (error) {
      return { result: undefined, error: (error as Error).message };
    }
  }
}

/** The package validates arguments, and shows errors to the model. */
function toolsOf(fns: Fns): Record<string, AnyTool> {
  return Object.fromEntries(
    byIdentifier(fns).map(([name, fn]) => [
      name,
      tool({ publicErrors: true, run: (args: unknown) => fn(...(Array.isArray(args) ? args : [args])) }) as AnyTool,
    ]),
  );
}

/**
 * The declaration of a namespace as the package's own executors have it: its functions pass on all arguments, and a prelude may add
 * functions to it.
 */
const namespace = (name: string) =>
  `const ${name} = ((tools) => new Proxy({}, {
    has: (own, name) => Object.hasOwn(own, name) || Object.hasOwn(tools, name),
    get: (own, name) => {
      if (Object.hasOwn(own, name)) return own[name];
      if (typeof name !== "string" || (name === "then" && !Object.hasOwn(tools, name))) return undefined;
      return async (...args) => {
        if (!Object.hasOwn(tools, name)) throw new Error(\`Tool "\${name}" not found\`);
        return tools[name](args);
      };
    },
  }))(globalThis.${name})`;
