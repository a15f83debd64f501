/** `group`: routes under a common prefix. */

import { buildingKey } from "../abi.ts";
import { checkMiddleware } from "../middleware/check.ts";
import type { AddsOf, AnyMiddleware, Chain, Empty } from "../middleware/types.ts";
import { platform } from "../platform.ts";
import type { RouteOptions } from "../routing/operation.ts";
import type { Around } from "../routing/step.ts";
import type { PrefixRule, Unmet } from "../routing/types.ts";
import type { Fields, ObjectSchema, OutputOf, PathSchema } from "../schema/object.ts";
import type { PathFields } from "../schema/path.ts";
import { isSchema } from "../schema/schema.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import type { AnyGroup, AnyRoute, Definitions, Group, NeedsOf } from "./definitions.ts";
import { checkPrefix } from "./prefix.ts";

/** Options of {@link group}. */
export interface GroupOptions<M extends readonly AnyMiddleware[], F> {
  /** Middleware around its routes, the outermost first. */
  readonly use?: M & Chain<M, Empty>;
  /**
   * The placeholders of the prefix: their fields, or a `Path`. Handlers get them in `path`, merged with their own ones.
   * They ask for them by the type of their first parameter.
   */
  readonly path?: F;
  /** The tags of its operations in the OpenAPI document. An inner group's take the place of an outer one's. */
  readonly tags?: readonly string[];
}

/** The values of a prefix's placeholders; unknown without any. */
type ValuesOf<F> = [keyof F] extends [never]
  ? unknown
  : F extends PathSchema<infer Values>
    ? Values
    : F extends PathFields
      ? OutputOf<F>
      : unknown;

/**
 * Routes under a common prefix, with middleware around them: a value in `routes({ … })` or in another group. Its routes
 * are named behind its key, as `users.list`.
 *
 * @example
 * const users = group("/users", { list: get("", () => ok([])) }, { use: [signedIn] });
 * @throws TypeError at definition, naming the invalid option.
 */
export function group<
  const P extends string,
  D extends Definitions,
  const M extends readonly AnyMiddleware[] = readonly [],
  F extends PathFields | PathSchema = Record<never, never>,
>(
  prefix: P & PrefixRule<P, F>,
  definitions: D,
  options: GroupOptions<M, F> = {},
): Group<D, Unmet<NeedsOf<D>, AddsOf<M>>, ValuesOf<F>> {
  if (typeof prefix !== "string")
    throw new TypeError('group: expects a prefix such as "/users", its routes and options');
  const label = `group(${JSON.stringify(prefix)})`;
  if (typeof definitions !== "object" || definitions === null) throw new TypeError(`${label}: expects its routes`);
  refuseUnknown(label, options, ["use", "path", "tags"]);
  const { path, tags } = options;
  const around: readonly Around[] = checkMiddleware(`${label}, "use"`, options.use ?? []);
  const fields = path === undefined ? undefined : fieldsOf(label, path);
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === "string" && tag !== ""))) {
    throw new TypeError(`${label}: "tags" must be a list of texts`);
  }
  const change = (options: RouteOptions): RouteOptions => ({
    ...options,
    ...(fields && { path: withFields(label, fields, options.path) as NonNullable<RouteOptions["path"]> }),
    ...(tags && { tags: options.tags ?? tags }),
  });
  const enter: AnyGroup["enter"] = (add, name, before, outer) => {
    checkPrefix(name, prefix, fields !== undefined);
    const changed = fields || tags ? changeRoutes(definitions, change) : definitions;
    add(changed, `${name}.`, before + prefix, [...outer, ...around]);
  };
  return Object.freeze({ prefix, definitions, use: around, enter });
}

/** The fields of a group's `path`. */
function fieldsOf(label: string, path: object): Fields {
  const given = isSchema(path) ? (path as unknown as ObjectSchema).fields : (path as Fields);
  const values = typeof given === "object" && given !== null ? Object.values(given) : [];
  if (values.length > 0 && values.every(isSchema)) return given;
  throw new TypeError(`${label}: "path" must be fields or a Path`);
}

/** The Path of a route in a group: the fields of the prefix, and its own. */
function withFields(label: string, fields: Fields, own: RouteOptions["path"]): RouteOptions["path"] {
  if (own && !isSchema(own)) {
    throw new TypeError(`${label}: the path of a route in it must be fields or a Path, not another library's schema`);
  }
  const all = { ...fields, ...(own as unknown as ObjectSchema | undefined)?.fields };
  const [first] = Object.values(fields);
  return first?.parsers.createObject(label, "path", "path", all) as RouteOptions["path"];
}

/** The same definitions, with other options of all routes in them. */
function changeRoutes(definitions: Definitions, change: (options: RouteOptions) => RouteOptions): Definitions {
  return Object.fromEntries(
    Object.entries(definitions).map(([key, definition]): [string, AnyRoute | AnyGroup] => {
      if (definition && "enter" in definition) {
        const enter: AnyGroup["enter"] = (add, ...rest) =>
          definition.enter((all, ...more) => add(changeRoutes(all, change), ...more), ...rest);
        return [key, { ...definition, enter }];
      }
      // Values that are no routes are refused later, by its name.
      if (typeof definition?.handler !== "function") return [key, definition as AnyRoute];
      platform[buildingKey]?.delete(definition);
      return [key, { ...definition, options: change(definition.options) }];
    }),
  );
}
