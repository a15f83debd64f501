/** Tools: functions of the program that scripts call. */

/** A schema of the SDK, or of any library that implements Standard Schema v1. */
export interface ValueSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => ValidationResult<Output> | Promise<ValidationResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A schema, whatever its types. */
export interface AnySchema {
  readonly "~standard": {
    readonly vendor: string;
    readonly validate: (value: unknown) => ValidationResult<unknown> | Promise<ValidationResult<unknown>>;
  };
}

/** The result of {@link ValueSchema}. */
export type ValidationResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ValidationIssue[] };

/** A mistake in a value, and its place. */
export interface ValidationIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The call of a tool. */
export interface ToolCall {
  /** Aborted when the evaluation ends before the tool does. */
  readonly signal: AbortSignal;
  /** The value given as `context` to `evaluate`. It never enters the sandbox. */
  readonly context: unknown;
}

/** The parts of a tool. */
export interface ToolOptions<Input, Output> {
  /** The schema of the argument; without one, the tool gets any value. */
  readonly input?: ValueSchema<never, Input> | ValueSchema<unknown, Input> | undefined;
  /** The schema of the result; the program must return such a value. */
  readonly output?: ValueSchema<never, Output> | ValueSchema<unknown, Output> | undefined;
  /** A sentence for `sandbox.types()`. */
  readonly description?: string;
  /** True when scripts may read the messages of all errors that the tool throws. False when left out: {@link PublicError} alone. */
  readonly publicErrors?: boolean;
  /**
   * Answers a call. The argument is a copy, and was validated. A large result is read in slices between other work of the program, so it must
   * not change any more.
   */
  readonly run: (input: Input, call: ToolCall) => NoInfer<Output> | Promise<NoInfer<Output>>;
}

/** A tool, made by {@link tool}. */
export interface Tool<Input = unknown, Output = unknown> extends ToolOptions<Input, Output> {
  readonly [isTool]: true;
}

/** A tool, whatever its types. */
export interface AnyTool {
  readonly input?: AnySchema | undefined;
  readonly output?: AnySchema | undefined;
  readonly description?: string | undefined;
  readonly publicErrors?: boolean | undefined;
  readonly run: (input: never, call: ToolCall) => unknown;
  readonly [isTool]: true;
}

const isTool: unique symbol = Symbol("tenon.tool");

/** Makes a tool of a sandbox: `tool({ input: Find, output: Person, run: ({ id }) => crm.find(id) })`. */
export function tool<Input = unknown, Output = unknown>(options: ToolOptions<Input, Output>): Tool<Input, Output> {
  if (typeof options !== "object" || options === null)
    throw new TypeError("tool: the options must be an object, with `run` at least");
  const { input, output, description, publicErrors, run, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new TypeError(`tool: unknown "${unknown}" (known: input, output, description, publicErrors, run)`);
  if (typeof run !== "function") throw new TypeError('tool: "run" must be a function');
  for (const [name, schema] of Object.entries({ input, output })) {
    if (schema !== undefined && !isSchema(schema))
      throw new TypeError(`tool: "${name}" must be a schema, such as Type("Find", { id: field.u32() })`);
  }
  if (description !== undefined && typeof description !== "string")
    throw new TypeError('tool: "description" must be a string');
  if (publicErrors !== undefined && typeof publicErrors !== "boolean")
    throw new TypeError('tool: "publicErrors" must be a boolean');
  return Object.freeze({ ...options, [isTool]: true as const });
}

/** Reports whether a value is a schema. */
export function isSchema(value: unknown): value is AnySchema {
  return typeof (value as Partial<AnySchema> | null | undefined)?.["~standard"]?.validate === "function";
}

/** Reports whether a value was made by {@link tool}. */
export function isOfTool(value: unknown): value is AnyTool {
  return typeof value === "object" && value !== null && (value as Partial<AnyTool>)[isTool] === true;
}

/** An error whose message a script may read, when a tool throws it. */
export class PublicError extends Error {
  override readonly name: string = "PublicError";
}

/** Tools by their names, and by the names of groups: `crm.find` is `{ crm: { find: tool(…) } }`. */
export type Tools = Readonly<Record<string, AnyTool | Readonly<Record<string, AnyTool>>>>;

/** Names that a tool or a group cannot have, besides those that are no identifiers. */
const reserved = new Set(
  (
    "await break case catch class const continue debugger default delete do else enum export extends false finally for function if " +
    "implements import in instanceof interface let new null package private protected public return static super switch this throw true " +
    "try typeof var void while with yield eval arguments undefined NaN Infinity globalThis self input process constructor prototype then"
  ).split(" "),
);

const isName = (name: string) => /^[A-Za-z$_][\w$]{0,199}$/.test(name) && !reserved.has(name) && !name.startsWith("__");

/** Names that a tool in a group cannot have: those of every object, and that of a default export. Words are fine: `crm.delete`. */
const reservedInGroups = new Set(["default", "then", "constructor", "prototype"]);

const isNameInGroup = (name: string) =>
  /^[A-Za-z$_][\w$]{0,199}$/.test(name) && !reservedInGroups.has(name) && !name.startsWith("__");

/** Describes the wrong tools. */
export function toolProblems(tools: Readonly<Record<string, unknown>>): string[] {
  const rule = "must be an identifier, and no word of JavaScript";
  return Object.entries(tools).flatMap(([name, value]) => {
    if (!isName(name)) return [`\`tools.${name}\`: the name ${rule}`];
    if (isOfTool(value)) return [];
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return [`\`tools.${name}\` must be a tool, made by tool({ run }), or an object of tools`];
    return Object.entries(value).flatMap(([member, each]) => {
      if (!isNameInGroup(member))
        return [`\`tools.${name}.${member}\`: the name must be an identifier, and none that objects have`];
      return isOfTool(each) ? [] : [`\`tools.${name}.${member}\` must be a tool, made by tool({ run })`];
    });
  });
}

/** All tools by their paths, such as `crm.find`. */
export function toolsByPath(tools: Tools): Map<string, AnyTool> {
  return new Map(
    Object.entries(tools).flatMap(([name, value]) =>
      isOfTool(value)
        ? [[name, value] as const]
        : Object.entries(value).map(([member, each]) => [`${name}.${member}`, each] as const),
    ),
  );
}

/** The names as the sandbox gets them: `["crm", ["find"]]`, and `["find", []]` for a tool without a group. */
export function toolNames(tools: Tools): [name: string, members: string[]][] {
  return Object.entries(tools).map(([name, value]) => [name, isOfTool(value) ? [] : Object.keys(value)]);
}

/** The issues of a value in one sentence, at most the first three. */
export function issuesText(issues: readonly ValidationIssue[]): string {
  const all = issues.map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  return all.length > 3 ? `${all.slice(0, 3).join("; ")}; and ${all.length - 3} more` : all.join("; ");
}
