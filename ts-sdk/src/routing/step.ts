import type { CheckResponse } from "../app/app.ts";
import type { Request } from "../http/request.ts";
import type { Response } from "../http/response.ts";
import type { AnyHandler, Operation } from "./operation.ts";
import type { FoundOperation, Match } from "./table.ts";

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

/** The parts of an app that its middleware stands between. */
export interface Pipeline {
  readonly operations: readonly Operation[];
  /** The middleware around every request, the outermost first. */
  readonly use: readonly Around[];
  /** Reads the input and calls the handler. */
  call(found: FoundOperation, request: Request, handler: AnyHandler, context: object): Response | Promise<Response>;
  /** Awaits a handler's answer and checks it. */
  settle(
    answer: Response | Promise<Response>,
    operation: Operation,
    check: CheckResponse | undefined,
  ): Promise<Response>;
  /** The answer where no handler is to be called. */
  answerWithout(match: Exclude<Match, FoundOperation>, request: Request): Response;
  readonly recover: Recover;
}

/** Finds the outermost step of a match; `undefined` when no middleware is around it. */
export type FindStep = (match: Match) => Step | undefined;

/**
 * A middleware as the pipeline takes it. It brings the code that runs it, so that an app without middleware holds none.
 */
export interface Around {
  /** @internal */
  around(inner: Step, recover: Recover): Step;
  /** Connects all middleware of an app, this one among it. @internal */
  connect(pipeline: Pipeline): FindStep;
}
