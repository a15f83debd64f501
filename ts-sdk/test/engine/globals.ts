/** An app that lists the globals of its engine. */
import { get, ok, routes } from "../../src/index.ts";

/** The names of a global's members, symbols as `[Symbol.iterator]`. */
export interface Members {
  readonly instance: readonly string[];
  readonly statics: readonly string[];
}

/** Prototypes of ECMAScript, whose members all objects inherit. */
const ECMASCRIPT: readonly object[] = [Object.prototype, Function.prototype, Error.prototype];

function namesOf(object: object | null | undefined): string[] {
  const names = new Set<PropertyKey>();
  for (let at = object; at && !ECMASCRIPT.includes(at); at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) names.add(key);
  }
  return [...names].map((key) => (typeof key === "symbol" ? `[${key.description}]` : String(key)));
}

function members(value: unknown): Members {
  if (typeof value !== "function") return { instance: namesOf(value as object), statics: [] };
  return { instance: namesOf(value.prototype), statics: Reflect.ownKeys(value).map(String) };
}

export default routes({
  globals: get("/globals", () => {
    const names = Object.getOwnPropertyNames(globalThis);
    const values = names.map((name) => [name, (globalThis as Record<string, unknown>)[name]] as const);
    const objects = values.filter(([, value]) => typeof value === "function" || typeof value === "object");
    return ok({ names, members: Object.fromEntries(objects.map(([name, value]) => [name, members(value)])) });
  }),
});
