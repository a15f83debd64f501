/** `get`, `post`, `put`, `patch` and `del`: declarations of routes. */

import { buildingKey } from "../abi.ts";
import { checkAnswers } from "../app/answers.ts";
import { isBodiless } from "../http/status.ts";
import { platform } from "../platform.ts";
import { type Fields, INLINE, type ObjectSchema, type Role } from "../schema/object.ts";
import { isSchema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import type { AnyHandler, GivenOptions, Method, Paths, Route, RouteOptions } from "./operation.ts";
import type { Around } from "./step.ts";
import type { Handler, InPlace, PathRule, Spelled, Unmet } from "./types.ts";

/** Declares a route: its path or paths, its inputs and outputs, and the handler. */
export interface DeclareRoute<Context = object> {
  /** @param path `/users`, or several: `["/", ""]` */
  <const P extends Paths, Asked = unknown, Outer = unknown>(
    path: P & Spelled<P>,
    handler: Handler<Record<never, never>, Context & Asked, Outer>,
  ): InPlace<Route<P, Record<never, never>, Unmet<Asked, Context>>, Outer>;
  /**
   * @param path `/users/{id}`, or several: `["/", ""]`
   * @param options inputs (`path`, `query`, `headers`, `body`), outputs (`response`, `status`), and `deprecated`
   * @param handler receives the declared inputs, parsed and validated, the raw request, and the context that middleware
   *   has added
   */
  <const P extends Paths, const O extends GivenOptions, Asked = unknown, Outer = unknown>(
    path: P,
    options: O & PathRule<P, O>,
    handler: Handler<O, Context & Asked, Outer>,
  ): InPlace<Route<P, O, Unmet<Asked, Context>>, Outer>;
}

// Marked as pure, so that a component has only the ones that its app uses.

/**
 * Declares a GET route. It answers HEAD as well.
 *
 * @example
 * get("/users/{id}", { path: { id: field.u32() }, response: User }, async ({ path }) => ok(await find(path.id)))
 */
export const get: DeclareRoute = /* @__PURE__ */ declareRoute("get", "GET", []);
/**
 * Declares a POST route.
 *
 * @example
 * post("/users", { body: NewUser, response: User, status: 201 }, ({ body }) => created("/users/1", { id: 1, ...body }))
 */
export const post: DeclareRoute = /* @__PURE__ */ declareRoute("post", "POST", []);
/**
 * Declares a PUT route.
 *
 * @example
 * put("/users/{id}", { path: { id: field.u32() }, body: NewUser, responses: { 200: User, 201: User } }, ({ path, body }) => save(path.id, body))
 */
export const put: DeclareRoute = /* @__PURE__ */ declareRoute("put", "PUT", []);
/**
 * Declares a PATCH route.
 *
 * @example
 * patch("/users/{id}", { path: { id: field.u32() }, body: partial(User), response: User }, ({ path, body }) => ok(change(path.id, body)))
 */
export const patch: DeclareRoute = /* @__PURE__ */ declareRoute("patch", "PATCH", []);
/**
 * Declares a DELETE route.
 *
 * @example
 * del("/users/{id}", { path: { id: field.u32() }, status: 204 }, () => noContent())
 */
export const del: DeclareRoute = /* @__PURE__ */ declareRoute("del", "DELETE", []);

/** Makes a function that declares routes of one method with middleware around each. */
export function declareRoute(name: string, method: Method, use: readonly Around[]): DeclareRoute {
  return ((path: Paths, ...rest: unknown[]): Route => {
    const label = `${name}(${JSON.stringify(path)})`;
    const [options, handler] = rest.length === 1 ? [{}, rest[0]] : rest;
    if (typeof handler !== "function") throw new TypeError(`${label}: the last argument must be the handler`);
    const checked = checkOptions(label, options);
    const paths = typeof path === "string" ? [path] : [...path];
    if (paths.length === 0) throw new TypeError(`${label}: no path is given`);
    const route = { method, paths, options: Object.freeze(checked), handler: handler as AnyHandler, use };
    platform[buildingKey]?.set(route, new Error(`${method} ${paths.join(", ")}`));
    return route;
  }) as DeclareRoute;
}

const TYPE = ["type", "a Type or a list"] as const;
/**
 * The role of our own schemas that each option accepts, and its description; another library's may be used anywhere.
 */
const SCHEMAS = {
  path: ["path", "a Path"],
  query: ["query", "a Query"],
  body: ["type", "a Type, a list or a Form"],
  headers: ["headers", "fields"],
  response: TYPE,
} as const;
const OPTIONS = [...Object.keys(SCHEMAS), "responses", "status", "deprecated", "warm"];

function checkOptions(label: string, given: unknown): RouteOptions {
  if (typeof given !== "object" || given === null) throw new TypeError(`${label}: the options must be an object`);
  refuseUnknown(label, given, OPTIONS);
  const options = { ...given } as { -readonly [K in keyof RouteOptions]: RouteOptions[K] };
  for (const [key, [role, words]] of Object.entries(SCHEMAS)) {
    const written = options[key as keyof typeof SCHEMAS];
    if (written === undefined && Object.hasOwn(given, key)) throw new TypeError(`${label}: "${key}" is undefined`);
    if (written !== undefined) options[key as "body"] = checkSchema(label, key, role, words, written);
  }
  if (options.responses !== undefined) {
    checkAnswers(label, options, (key, schema) => checkSchema(label, key, ...TYPE, schema as StandardSchema));
  }
  const { status, response } = options;
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 399)) {
    throw new RangeError(`${label}: "status" must be the success status, 200 to 399, not ${status}`);
  }
  if (response && isBodiless(status)) {
    throw new TypeError(
      `${label}: an answer with status ${status} must have no body, so there is no "response" to declare`,
    );
  }
  for (const flag of ["deprecated", "warm"] as const) {
    if (options[flag] !== undefined && typeof options[flag] !== "boolean") {
      throw new TypeError(`${label}: "${flag}" must be true or false`);
    }
  }
  return options;
}

/** Checks the schema of an option; inline fields become one. */
function checkSchema(
  label: string,
  key: string,
  role: Exclude<Role, "form">,
  words: string,
  given: StandardSchema | Fields,
): StandardSchema {
  const field = isSchema(given) ? undefined : Object.values(given).find(isSchema);
  const name = role === "type" ? INLINE : role;
  const schema = (field?.parsers.createObject(label, role, name, given as Fields) ?? given) as StandardSchema;
  if (typeof schema["~standard"]?.validate !== "function") {
    throw new TypeError(`${label}: "${key}" is not a schema and has no fields`);
  }
  const own = isSchema(schema) ? ((schema as Partial<ObjectSchema>).role ?? "type") : role;
  if (own !== role && !(own === "form" && key === "body")) throw new TypeError(`${label}: "${key}" must be ${words}`);
  return schema;
}
