import { declareRoute } from "../routing/method.ts";
import type { Around } from "../routing/step.ts";
import { checkMiddleware } from "./check.ts";
import type { AddsOf, AnyMiddleware, Chain, Empty, Kit } from "./types.ts";

/**
 * Route functions with middleware around each route: `const signedIn = use(bearer(verify))`, then `signedIn.get("/me",
 * (input, req, { user }) => ok(user))`. The first middleware is the outermost.
 *
 * @example
 * const signedIn = use(bearer(verify));
 * const me = signedIn.get("/me", (_, req, { user }) => ok(user));
 * @throws TypeError when an argument is not middleware.
 */
export function use<const M extends readonly AnyMiddleware[]>(...middleware: M & Chain<M, Empty>): Kit<AddsOf<M>> {
  return kit(checkMiddleware("use", middleware)) as unknown as Kit<AddsOf<M>>;
}

/** Makes route functions with middleware around each route. */
export function kit(around: readonly Around[]): Kit<Empty> {
  return Object.freeze({
    get: declareRoute("get", "GET", around),
    post: declareRoute("post", "POST", around),
    put: declareRoute("put", "PUT", around),
    patch: declareRoute("patch", "PATCH", around),
    del: declareRoute("del", "DELETE", around),
    use: ((...more: unknown[]) => kit([...around, ...checkMiddleware("use", more)])) as unknown as Kit<Empty>["use"],
  });
}
