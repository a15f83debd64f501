/** The argument of a typed call, `{ path, query, headers, body }`, as the flat arguments of a tool. */
import { isObject, type Members } from "../messages.ts";
import type { ArgumentPlace, ToolEntry } from "../types.ts";

type Part = "path" | "query" | "headers" | "body";

/** The part of a typed call that has the arguments of a place. */
export const PARTS: Readonly<Record<ArgumentPlace, Part>> = {
  path: "path",
  rest: "path",
  query: "query",
  header: "headers",
  member: "body",
  body: "body",
};

/** Returns the arguments, or the reason why there are none. */
export function argumentsOf({ args }: ToolEntry, input: unknown): Members | string {
  const parts = input ?? {};
  if (!isObject(parts)) return "the argument of a route must be an object: { path, query, headers, body }";
  const flat: [string, unknown][] = [];
  const left = new Map<string, unknown>();
  for (const [part, value] of Object.entries(parts)) {
    if (!["path", "query", "headers", "body"].includes(part))
      return `"${shown(part)}" must be path, query, headers or body`;
    const isWhole = part === "body" && args.some(([, place]) => place === "body");
    if (value === undefined || value === null) continue;
    if (isWhole) left.set("body", value);
    else if (!isObject(value)) return `"${part}" must be an object`;
    else for (const [name, each] of Object.entries(value)) left.set(`${part}.${name}`, each);
  }
  for (const [argument, place, name] of args) {
    const key = place === "body" ? "body" : `${PARTS[place]}.${name}`;
    if (left.has(key)) flat.push([argument, left.get(key)]);
    left.delete(key);
  }
  const [unknown] = left.keys();
  if (unknown !== undefined) return `"${shown(unknown)}" is not an input of this route`;
  // `fromEntries` defines members, so that one called "__proto__" is a member like any other.
  return Object.fromEntries(flat);
}

/** A name of the program in a message, cut where it is long. */
const shown = (name: string) => name.slice(0, 64);
