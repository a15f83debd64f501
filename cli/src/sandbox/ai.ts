/**
 * `tenon/sandbox/ai`: a tool for the AI SDK (`ai`, version 6 or later). A model runs code in a sandbox of this process:
 * `generateText({ model, tools: { run: sandboxTool(sandbox) }, … })`.
 *
 * Nothing of the package is imported: its `tool()` returns its argument, and it accepts schemas of the Standard Schema.
 */
import { evaluateCode } from "./function-body.ts";
import type { EvaluationError, Sandbox } from "./sandbox.ts";

/** The options of {@link sandboxTool}. */
export interface SandboxToolOptions {
  /** The description for the model, in the place of the one that names the sandbox's tools. */
  readonly description?: string;
  /** A value for the tools of the sandbox, such as the user. The model does not see it. */
  readonly context?: unknown;
}

/** The argument that a model gives. */
export interface SandboxToolInput {
  readonly code: string;
}

/** The result that a model gets. */
export interface SandboxToolOutput {
  /** The value of the code. */
  readonly value?: unknown;
  /** The reason why there is no value. */
  readonly error?: Pick<EvaluationError, "kind" | "message" | "limit" | "line">;
  /** The lines that the code has logged. */
  readonly logs: string[];
}

type Checked = { readonly value: SandboxToolInput } | { readonly issues: readonly { readonly message: string }[] };

/** A schema with JSON Schema, as the package accepts it. */
export interface SandboxToolSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "tenon";
    readonly types?: { readonly input: unknown; readonly output: SandboxToolInput } | undefined;
    readonly validate: (value: unknown) => Checked;
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** A tool of the AI SDK. */
export interface SandboxTool {
  readonly description: string;
  readonly inputSchema: SandboxToolSchema;
  readonly execute: (
    input: SandboxToolInput,
    options?: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<SandboxToolOutput>;
}

const json = () => ({
  type: "object",
  properties: { code: { type: "string", description: "A module in TypeScript or JavaScript" } },
  required: ["code"],
  additionalProperties: false,
});

const inputSchema: SandboxToolSchema = {
  "~standard": {
    version: 1,
    vendor: "tenon",
    validate: (value) => {
      const code = (value as Partial<SandboxToolInput> | null | undefined)?.code;
      return typeof code === "string" ? { value: { code } } : { issues: [{ message: "`code` must be a string" }] };
    },
    jsonSchema: { input: json, output: json },
  },
};

/** Makes a tool with which a model runs code in the sandbox, within its limits. A failure of the code is a result, which the model reads. */
export function sandboxTool(sandbox: Sandbox, { description, context }: SandboxToolOptions = {}): SandboxTool {
  return {
    description: description ?? describe(sandbox),
    inputSchema,
    execute: async ({ code }, { abortSignal } = {}) => {
      const done = await evaluateCode(sandbox, code, { context, ...(abortSignal ? { signal: abortSignal } : {}) });
      const logs = done.logs.map(({ level, message }) => (level === "error" ? `error: ${message}` : message));
      if (done.ok) return { value: forJson(done.value), logs };
      const { kind, message, limit, line } = done.error;
      const error = { kind, message, ...(limit ? { limit } : {}), ...(line === undefined ? {} : { line }) };
      return { error, logs };
    },
  };
}

const describe = (
  sandbox: Sandbox,
) => `Runs code in TypeScript or JavaScript, without a network or files. The result is \
the value of the last expression; await is allowed. Each run begins anew. The code may call these functions:

\`\`\`ts
${sandbox.types()}\`\`\``;

/** The value as a model gets it: JSON has no bytes, and they would become an object with a property for each. */
function forJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(forJson);
  if (typeof value !== "object" || value === null || value instanceof Date) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, forJson(each)]));
}
