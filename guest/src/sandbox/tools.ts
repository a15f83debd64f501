/** The functions of the program that a script calls. */
import { startCall } from "tenon:engine";
import { toolError } from "./failure.ts";
import { decode, encode } from "./values.ts";

const { Number, Object, String } = globalThis;
const { apply } = Reflect;
const { defineProperty, freeze } = Object;
const { replace } = String.prototype;

/** A tool `crm.find` is `["crm", ["find"]]`, and a tool `find` is `["find", []]`. */
export type ToolNames = readonly (readonly [name: string, members: readonly string[]])[];

type Tool = (input?: unknown) => Promise<unknown>;

interface Outcome {
  readonly reason?: number;
  readonly detail?: string;
  readonly body: Uint8Array;
}

const call = startCall as (call: unknown) => Promise<Outcome>;

/** The runtime names its own limit of bodies, which a program sets as `outputBytes`. */
function withLimit(detail: string | undefined): string {
  const named = apply(replace, detail ?? "", ["(max_outbound_body_bytes)", "(outputBytes)"]) as string;
  return apply(replace, named, ["an outbound body", "the argument"]) as string;
}

const arrayOfTwo = new Uint8Array([9, 2, 0, 0, 0]);

function toolOf(path: string): Tool {
  // A call is the array of the path and the argument.
  const before = encode(path, Number.POSITIVE_INFINITY, arrayOfTwo);
  const tool = async (input?: unknown): Promise<unknown> => {
    const { reason, detail, body } = await call({
      method: "POST",
      url: "sidecar:tools/",
      headers: [],
      body: encode(input, Number.POSITIVE_INFINITY, before),
      timeoutMs: 0,
      maxBytes: 0,
    });
    if (reason !== undefined) throw toolError(`${path}: ${withLimit(detail)}`);
    const answer = decode(body) as readonly [isError: boolean, value: unknown];
    if (answer[0]) throw toolError(answer[1] as string);
    return answer[1];
  };
  return defineProperty(tool, "name", { value: path });
}

/** Defines the tools as globals, and returns the modules that a script can import: `import { find } from "crm"`. */
export function defineTools(names: ToolNames): Record<string, Record<string, unknown>> {
  const modules = Object.create(null) as Record<string, Record<string, unknown>>;
  for (const [name, members] of names) {
    const exports = Object.create(null) as Record<string, unknown>;
    for (const member of members) exports[member] = toolOf(`${name}.${member}`);
    const tool = members.length === 0 ? toolOf(name) : freeze({ ...exports });
    defineProperty(globalThis, name, { value: tool, writable: true, enumerable: false, configurable: true });
    exports["default"] ??= tool;
    modules[name] = exports;
  }
  return modules;
}
