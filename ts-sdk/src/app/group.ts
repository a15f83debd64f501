/** `group`: routes under a common prefix. */

import { buildingKey } from "../abi.ts";
import { checkMiddleware } from "../middleware/check.ts";
import type { AddsOf, AnyMiddleware, Chain, Empty, Kit } from "../middleware/types.ts";
import { kit } from "../middleware/use.ts";
import { platform } from "../platform.ts";
import type { RouteOptions } from "../routing/operation.ts";
import type { Around } from "../routing/step.ts";
import type { Expecting, InPlace, Placeholders, PrefixRule, PrefixValues, Unmet } from "../routing/types.ts";
import type { Fields, ObjectSchema, PathSchema } from "../schema/object.ts";
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
   * The placeholders of the prefix: their fields, or a `Path`. Handlers get them in `path`, merged with their own ones. In
   * definitions, those are texts; a function that makes the definitions has the types of these fields.
   */
  readonly path?: F;
  /** The tags of its operations in the OpenAPI document. An inner group's take the place of an outer one's. */
  readonly tags?: readonly string[];
}

/** The input of handlers in a group: the values of its prefix's placeholders, and those of the groups around it. */
type PlacedBy<Values, Outer> = keyof Values extends never
  ? [Outer] extends [never]
    ? unknown
    : Outer
  : { readonly path: Values } & ([Outer] extends [never] ? unknown : Outer);
declare const hint: unique symbol;
/**
 * Infers the input of the handlers that are declared in a group, and accepts nothing. The type checker reads definitions
 * before the option `path`, so their placeholders are texts; it reads a function that makes them after the options.
 */
interface Hint<Input> {
  readonly [name: string]: Expecting<Input>;
  readonly [hint]: never;
}
type TextsOf<P extends string> = { [Name in Placeholders<P>]: string };

/** The definitions of a group, or a function that makes them with the group's own route functions. */
export type GroupDefinitions<P extends string, D, M extends readonly AnyMiddleware[], F, Outer> =
  | D
  | Hint<PlacedBy<TextsOf<P>, Outer>>
  | ((group: Kit<AddsOf<M>>) => D | Hint<PlacedBy<PrefixValues<F>, Outer>>);

/**
 * Routes under a common prefix, with middleware around them: a value in `routes({ … })` or in another group. Its routes
 * are named after its key, as `users.list`. A function makes them from route functions whose handlers know the context
 * of `use` and the types of `path`.
 *
 * @example
 * const users = group("/users", { list: get("", () => ok([])) }, { use: [signedIn] });
 * const user = group("/users/{id}", ({ get }) => ({ one: get("", ({ path }) => ok(path)) }), { path: { id: field.u32() } });
 * @throws TypeError at definition, naming the invalid option.
 */
export function group<
  const P extends string,
  D extends Definitions,
  const M extends readonly AnyMiddleware[] = readonly [],
  F extends PathFields | PathSchema = Record<never, never>,
  Outer = unknown,
>(
  prefix: P & PrefixRule<P, F, D>,
  definitions: GroupDefinitions<P, D, M, F, Outer>,
  options: GroupOptions<M, F> = {},
): InPlace<Group<D, Unmet<NeedsOf<D>, AddsOf<M>>, PrefixValues<F>>, Outer> {
  if (typeof prefix !== "string")
    throw new TypeError('group: expects a prefix such as "/users", its routes and options');
  const label = `group(${JSON.stringify(prefix)})`;
  const all = (typeof definitions === "function" ? definitions(kit([]) as never) : definitions) as D;
  if (typeof all !== "object" || all === null) throw new TypeError(`${label}: expects its routes`);
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
    const changed = fields || tags ? changeRoutes(all, change) : all;
    add(changed, `${name}.`, before + prefix, [...outer, ...around]);
  };
  return Object.freeze({ prefix, definitions: all, use: around, enter });
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
