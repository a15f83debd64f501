/** `routes`: an app from its definitions. */

import { buildingKey } from "../abi.ts";
import { appWithMcp } from "../mcp/serve.ts";
import type { McpOptions } from "../mcp/types.ts";
import { checkMiddleware } from "../middleware/check.ts";
import type { AddsOf, AnyMiddleware, Chain, Empty } from "../middleware/types.ts";
import { platform } from "../platform.ts";
import type { Operation } from "../routing/operation.ts";
import { type Pattern, parsePattern } from "../routing/pattern.ts";
import type { Around } from "../routing/step.ts";
import { RouteTable } from "../routing/table.ts";
import type { ObjectSchema } from "../schema/object.ts";
import { isSchema } from "../schema/schema.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import type { App } from "./app.ts";
import { atRoute } from "./at-route.ts";
import type { AnyGroup, AnyRoute, Definitions, Provided } from "./definitions.ts";
import { createApp } from "./handle.ts";
import type { OnError } from "./on-error.ts";
import type { OnInvalid } from "./on-invalid.ts";
import { checkPrefix } from "./prefix.ts";

/** Options that hold for all routes of an app. */
export interface RoutesOptions<M extends readonly AnyMiddleware[] = readonly []> {
  /** The prefix of all routes' paths: `/api/v1`. */
  readonly prefix?: string;
  /**
   * Middleware around every request, the outermost first. It also runs for OPTIONS and for requests that match no
   * route.
   */
  readonly use?: M & Chain<M, Empty>;
  /**
   * Receives exceptions of handlers and middleware, other than thrown answers. The answer that it returns is sent;
   * `undefined` means the ordinary 500, and so does an exception of its own.
   */
  readonly onError?: OnError;
  /**
   * Receives the problem details of an input that does not validate. The answer that it returns is sent; `undefined` means
   * the ordinary 400.
   */
  readonly onInvalid?: OnInvalid;
  /** Serves the routes as tools of the Model Context Protocol, at `POST /mcp`. */
  readonly mcp?: McpOptions;
}

/**
 * Makes an app of its routes. Each key is its handler's name, prefixed with the name of its group. The doc comment
 * above it is the operation's summary in the OpenAPI document.
 *
 * @example
 * export default routes({
 *   // The service's banner.
 *   index: get(["/", ""], () => ok({ service: "hello" })),
 * });
 * @throws TypeError at definition, naming an invalid route, or two routes that answer the same requests.
 */
export function routes<D extends Definitions, const M extends readonly AnyMiddleware[] = readonly []>(
  definitions: D & Provided<D, AddsOf<M>>,
  options: RoutesOptions<M> = {},
): App<D> {
  refuseUnknown("routes", options, ["prefix", "use", "onError", "onInvalid", "mcp"]);
  const { prefix = "", use = [], onError, onInvalid, mcp } = options as RoutesOptions<readonly AnyMiddleware[]>;
  const around = checkMiddleware('routes: "use"', use);
  const table = new RouteTable();
  const operations: Operation[] = [];
  const names = new Set<string>();
  if (prefix !== "") checkPrefix("routes", prefix);
  add(definitions, "", prefix, []);
  const parts = { prefix, use: around, onError, onInvalid };
  return mcp ? appWithMcp(mcp, operations, table, parts) : createApp(operations, table, parts);

  function add(all: Definitions, before: string, prefix: string, use: readonly Around[]): void {
    for (const [key, definition] of Object.entries(all)) {
      const name = before + key;
      if (isGroup(definition)) {
        definition.enter(add, name, prefix, use);
        continue;
      }
      if (names.has(name)) throw new TypeError(`routes: two routes are called "${name}"`);
      names.add(name);
      platform[buildingKey]?.delete(definition);
      const operation = nameRoute(name, definition, prefix, use);
      for (const path of operation.paths) table.add(operation, checkedPattern(operation, path));
      operations.push(operation);
    }
  }
}

function isGroup(definition: AnyRoute | AnyGroup | undefined): definition is AnyGroup {
  return typeof (definition as AnyGroup | undefined)?.enter === "function";
}

function nameRoute(name: string, route: AnyRoute, prefix: string, use: readonly Around[]): Operation {
  if (typeof route?.handler !== "function") {
    throw new TypeError(`routes: "${name}" is not a route; use get, post, put, patch, del or group`);
  }
  const { method, options, handler } = route;
  const { status = 200, deprecated = false } = options;
  const paths = route.paths.map((path) => {
    // Checks the path before the prefix hides its errors.
    atRoute(name, () => parsePattern(path));
    return prefix + path;
  });
  return Object.freeze({ method, paths, options, handler, name, status, deprecated, use: [...use, ...route.use] });
}

function checkedPattern({ name, options }: Operation, path: string): Pattern {
  const pattern = atRoute(name, () => parsePattern(path));
  const schema = options.path;
  // The type checker compares these as well. It is the only check for another library's schema.
  if (!schema || !isSchema(schema)) return pattern;
  const fields = Object.keys((schema as unknown as ObjectSchema).fields);
  const missing = pattern.placeholders.find((placeholder) => !fields.includes(placeholder));
  const surplus = fields.find((field) => !pattern.placeholders.includes(field));
  if (missing) throw new TypeError(`routes: "${name}": the Path has no field for {${missing}} of "${path}"`);
  if (surplus)
    throw new TypeError(`routes: "${name}": the path "${path}" has no {${surplus}}, which the Path declares`);
  return pattern;
}
