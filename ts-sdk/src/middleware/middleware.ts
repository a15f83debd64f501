import type { Request } from "../http/request.ts";
import { Response } from "../http/response.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { checkOpenApi } from "./check-openapi.ts";
import { connect } from "./connect.ts";
import type { MiddlewareOpenApi } from "./security.ts";
import type { Empty, Middleware, Next, Passed } from "./types.ts";

/**
 * A type that a call does not infer from the expected type of its result: `use` expects a middleware that may need any
 * context. `NoInfer` has the same effect, but editors would show that word.
 */
type Uninferred<T> = [T][T extends unknown ? 0 : never];

/** Options of {@link middleware}. */
export interface MiddlewareOptions {
  /** Additions to the OpenAPI document: security schemes, and answers of its own. */
  readonly openapi?: MiddlewareOpenApi;
}

/**
 * Makes a middleware. It runs before any input is read. `next(context?)` resolves to the answer of everything inside,
 * errors included, and hands `context` on to it; an answer without `next` ends the request.
 *
 * @example
 * const timed = middleware(async (req, next) => (await next()).header("server-timing", "app"));
 * @param options what it adds to the OpenAPI document
 * @throws TypeError for any argument but a function, for an unknown option, and for what no OpenAPI document can have.
 */
export function middleware<Adds extends object = Empty, Needs extends object = Empty>(
  run: (request: Request, next: Next, context: Needs) => Passed<Adds> | Promise<Passed<Adds>>,
  options: MiddlewareOptions = {},
): Middleware<Adds, Uninferred<Needs>> {
  if (typeof run !== "function") throw new TypeError("middleware: expects a function (req, next, context) => answer");
  refuseUnknown("middleware", options, ["openapi"]);
  const { openapi } = options;
  if (openapi !== undefined) checkOpenApi(openapi);
  return Object.freeze<Middleware<Adds, Needs>>({
    ...(openapi && { openapi }),
    connect,
    around: (inner, recover) => async (request, context, arrived) => {
      let isCalled = false;
      const next = (added?: object) => {
        if (isCalled) throw new Error("next() was called twice: a middleware must call it at most once");
        isCalled = true;
        return Promise.resolve(inner(request, added === undefined ? context : { ...context, ...added }, arrived));
      };
      try {
        const answer: unknown = await run(request, next as Next, context as Needs);
        if (answer instanceof Response) return answer;
        throw new TypeError("the middleware returned no response: return next(), or an answer such as error(401, …)");
      } catch (thrown) {
        return recover(thrown, request, undefined);
      }
    },
  });
}
