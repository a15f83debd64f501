import type { CheckResponse } from "../app/app.ts";
import type { Request } from "../http/request.ts";
import type { Response } from "../http/response.ts";
import type { Match } from "./table.ts";

/** What a request has come to: the operation that it matched, and how its answer is checked. */
export interface Arrived {
  readonly match: Match;
  readonly check: CheckResponse | undefined;
}

/** A step of a request's way: everything inside a middleware, down to the handler. It never throws or rejects. */
export type Step = (request: Request, context: object, arrived: Arrived) => Response | Promise<Response>;

/** The answer to an exception: an answer that was thrown, what `onError` makes of it, or the ordinary 500. */
export type Recover = (
  thrown: unknown,
  request: Request | undefined,
  handler: string | undefined,
) => Response | Promise<Response>;

/**
 * A middleware as the pipeline takes it. It brings the code that runs it, so that an app without middleware holds none.
 */
export interface Around {
  /** @internal */
  around(inner: Step, recover: Recover): Step;
}
