/** `search` and `execute`: the tools of an app with `mcp: { code: true }`. */
import type { Request } from "../../http/request.ts";
import type { Operation } from "../../routing/operation.ts";
import type { Called, Callee } from "../call-tool.ts";
import { MAX_QUERY, MAX_SOURCE } from "../limits.ts";
import { INVALID_PARAMS, isObject, type Members, ProtocolError } from "../messages.ts";
import type { McpOptions, ToolTable } from "../types.ts";
import { execute } from "./execute.ts";
import { search } from "./search.ts";
import type { CodeMode } from "./types.ts";

const SEARCH = {
  name: "search",
  title: "Search the API",
  description:
    "Finds functions of this API by words, in their names, paths, types and comments. Returns a page of TypeScript signatures, for programs of `execute`. Without a query it lists all.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", maxLength: MAX_QUERY, description: "Words, such as: list open orders" },
      page: { type: "integer", minimum: 1, default: 1 },
    },
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

const EXECUTE = {
  name: "execute",
  title: "Run a program",
  description: `Runs a program in TypeScript against this API, and returns its value as JSON. Find the functions with \`search\` first.

The program's value is its default export, or that of its last expression; a function is called with \`input\`, and a promise is waited for:

export default async () => {
  const orders = await api.orders.list({ query: { open: true } });
  if (!orders.ok) throw new Error(orders.problem.detail);
  return orders.data.map((order) => order.id);
};

Each function resolves to { ok: true, status, data } or { ok: false, status, problem: { title, detail } }. It has the rights of this connection. There are \`api\`, \`input\`, \`console\` and the globals of ECMAScript: no imports, no fetch, no timers. Return only what you need. When a result has "confirm", the calls in it were not made: ask the user, and send the token.`,
  inputSchema: {
    type: "object",
    properties: {
      code: { type: "string", maxLength: MAX_SOURCE, description: "One ES module in TypeScript" },
      input: { description: "A value of JSON for the program" },
      confirm: { type: "string", description: "The token of a result that asked for a confirmation" },
    },
    required: ["code"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: false, destructiveHint: true },
};

/** The tools of code mode. */
export const codeMode: CodeMode = {
  definitions: [JSON.stringify(SEARCH), JSON.stringify(EXECUTE)],
  async call(
    { name, arguments: args = {} }: Members,
    request: Request,
    callee: Callee,
    { tools }: ToolTable,
    options: McpOptions,
  ): Promise<Called> {
    if (!isObject(args)) throw new ProtocolError(INVALID_PARAMS, '"arguments" must be an object.');
    const operation = callee.operations[0] as Operation;
    if (name === "search") return { operation, members: content(search(tools, args)) };
    if (name !== "execute") {
      const shown = typeof name === "string" ? `: ${name.slice(0, 128)}` : '; "name" must be a text';
      throw new ProtocolError(INVALID_PARAMS, `Unknown tool${shown}`);
    }
    const { result, logs, usage, refused } = await execute(args, request, callee, tools, options);
    const text = JSON.stringify({ ...result, ...(logs.length === 0 ? {} : { logs }), usage });
    const isError = !result.ok && result.error.kind !== "confirm";
    const members = `${content(text)},"structuredContent":${text}${isError ? ',"isError":true' : ""}`;
    return { operation: refused?.operation ?? operation, members, challenge: refused?.challenge };
  },
};

function content(text: string): string {
  return `"content":[${JSON.stringify({ type: "text", text })}]`;
}
