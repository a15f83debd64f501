/** `group`: routes under a common prefix. */
import { checkMiddleware } from "../middleware/check.ts";
import type { AddsOf, AnyMiddleware, Chain, Empty } from "../middleware/types.ts";
import type { Around } from "../routing/step.ts";
import type { Unmet } from "../routing/types.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import type { AnyGroup, Definitions, Group, NeedsOf } from "./definitions.ts";
import { checkPrefix } from "./prefix.ts";

/**
 * Routes under a common prefix, with middleware around them: a value in `routes({ … })` or in another group. Its routes
 * are named behind its key, as `users.list`.
 *
 * @example
 * const users = group("/users", { list: get("", () => ok([])) }, { use: [signedIn] });
 * @throws TypeError at definition, naming the invalid option.
 */
export function group<D extends Definitions, const M extends readonly AnyMiddleware[] = readonly []>(
  prefix: string,
  definitions: D,
  options: { readonly use?: M & Chain<M, Empty> } = {},
): Group<D, Unmet<NeedsOf<D>, AddsOf<M>>> {
  if (typeof prefix !== "string")
    throw new TypeError('group: expects a prefix such as "/users", its routes and options');
  const label = `group(${JSON.stringify(prefix)})`;
  if (typeof definitions !== "object" || definitions === null) throw new TypeError(`${label}: expects its routes`);
  refuseUnknown(label, options, ["use"]);
  const around: readonly Around[] = checkMiddleware(`${label}, "use"`, options.use ?? []);
  const enter: AnyGroup["enter"] = (add, name, before, outer) => {
    checkPrefix(name, prefix);
    add(definitions, `${name}.`, before + prefix, [...outer, ...around]);
  };
  return Object.freeze({ prefix, definitions, use: around, enter });
}
