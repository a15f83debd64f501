/** Preflights (Fetch, section 4.9) of routes whose group or kit has `cors`. */
import type { Around, AroundPreflight, Match } from "../routing/step.ts";

/**
 * Finds the middleware that answers a preflight: that of the route with the requested method, or what all routes of the
 * path have in common. It ends with the innermost `cors`, because the browser sends no credentials that a middleware
 * behind it could ask for.
 */
export const aroundPreflight: AroundPreflight = ({ method, path, headers }, match, table) => {
  const asked = method === "OPTIONS" ? headers.get("access-control-request-method") : undefined;
  if (asked === undefined || match.found !== "path") return [];
  const of = (found: Match) => (found.found === "operation" ? [found.operation.use] : []);
  const [requested] = of(table.match(asked, path));
  const [first = [], ...others] = match.methods.flatMap((each) => of(table.match(each, path)));
  const shared = first.findIndex((each, i) => others.some((other) => other[i] !== each));
  const around = requested ?? (shared < 0 ? first : first.slice(0, shared));
  return around.slice(0, around.map(isCors).lastIndexOf(true) + 1);
};

function isCors(around: Around): boolean {
  return around.aroundPreflight !== undefined;
}
