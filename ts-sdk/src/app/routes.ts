import type { Operation, Route } from "../routing/operation.ts";
import { type Pattern, parsePattern } from "../routing/pattern.ts";
import { RouteTable } from "../routing/table.ts";
import type { ObjectSchema } from "../schema/object.ts";
import { isSchema } from "../schema/schema.ts";
import type { App } from "./app.ts";
import { createApp } from "./handle.ts";

/**
 * Makes an app of its routes. Each key is its handler's name; the doc comment above it is the operation's summary in
 * the OpenAPI document.
 *
 * @example
 * export default routes({
 *   // The service's banner.
 *   index: get(["/", ""], () => ok({ service: "hello" })),
 * });
 * @throws TypeError at definition, naming the route that can't be, or both of two that answer the same requests.
 */
export function routes(definitions: Readonly<Record<string, Route>>): App {
  const table = new RouteTable();
  const operations = Object.entries(definitions).map(([name, route]) => {
    const operation = nameRoute(name, route);
    for (const path of operation.paths) table.add(operation, checkedPattern(operation, path));
    return operation;
  });
  return createApp(operations, table);
}

function nameRoute(name: string, route: Route): Operation {
  if (typeof route?.handler !== "function") {
    throw new TypeError(`routes: "${name}" is no route; make it with get, post, put, patch or del`);
  }
  const { status = 200, deprecated = false } = route.options;
  return Object.freeze({ ...route, name, status, deprecated });
}

function checkedPattern({ name, options }: Operation, path: string): Pattern {
  const pattern = atRoute(name, () => parsePattern(path));
  const schema = options.path;
  // The type checker compares these as well; another library's schema it alone can look into.
  if (!schema || !isSchema(schema)) return pattern;
  const fields = Object.keys((schema as unknown as ObjectSchema).fields);
  const missing = pattern.placeholders.find((placeholder) => !fields.includes(placeholder));
  const surplus = fields.find((field) => !pattern.placeholders.includes(field));
  if (missing) throw new TypeError(`routes: "${name}": the Path has no field for {${missing}} of "${path}"`);
  if (surplus)
    throw new TypeError(`routes: "${name}": the path "${path}" has no {${surplus}}, which the Path declares`);
  return pattern;
}

function atRoute<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    throw new TypeError(`routes: "${name}": ${(thrown as Error).message}`);
  }
}
