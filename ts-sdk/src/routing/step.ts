/** Types of a matched request, and of the steps that handle it. */
import type { Request } from "../http/request.ts";
import type { Response } from "../http/response.ts";
import type { AnyHandler, CheckResponse, Operation } from "./operation.ts";

/** A matched operation with its placeholders. */
export interface FoundOperation {
  readonly found: "operation";
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
  /** The placeholders in which a percent-encoding is malformed; undefined for a literal segment. */
  readonly malformed: readonly (string | undefined)[];
}

/** The result of matching a request's path and method. */
export type Match =
  | FoundOperation
  /** The path is known, with other methods. */
  | { readonly found: "path"; readonly methods: readonly string[] }
  /** The path is not known, and a percent-encoding in it is malformed. */
  | { readonly found: "malformed" }
  | { readonly found: "nothing" };

/** A matched request: its operation, and the check of its answer. */
export interface Arrived {
  readonly match: Match;
  readonly check: CheckResponse | undefined;
}

/**
 * A step in the handling of a request: everything inside a middleware, down to the handler. It never throws or rejects.
 */
export type Step = (request: Request, context: object, arrived: Arrived) => Response | Promise<Response>;

/** The answer to an exception: the thrown answer, `onError`'s result, or the ordinary 500. */
export type Recover = (
  thrown: unknown,
  request: Request | undefined,
  handler: string | undefined,
) => Response | Promise<Response>;

/** The parts of an app that its middleware connects. */
export interface Pipeline {
  readonly operations: readonly Operation[];
  /** Finds the operation of a method and a path. */
  readonly table: { match(method: string, path: string): Match };
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
  /** Writes a handler's body as JSON, with its declared members. */
  encode(operation: Operation, response: Response): Response;
  /** The answer when no operation matches. */
  answerWithout(match: Exclude<Match, FoundOperation>, request: Request): Response;
  readonly recover: Recover;
}

/** Finds the outermost step of a match; `undefined` when no middleware is around it. */
export type FindStep = (match: Match) => Step | undefined;

/** The middleware of groups and kits that answers a preflight, the outermost first; none for any other request. */
export type AroundPreflight = (
  request: Request,
  match: Exclude<Match, FoundOperation>,
  table: Pipeline["table"],
) => readonly Around[];

/**
 * A middleware in the pipeline's form. It brings the code that runs it, so that an app without middleware contains
 * none.
 */
export interface Around {
  /** Finds the middleware around the routes that a preflight is about; of `cors` alone. @internal */
  readonly aroundPreflight?: AroundPreflight;
  /** @internal */
  around(inner: Step, recover: Recover): Step;
  /** Connects all middleware of an app, including this one. @internal */
  connect(pipeline: Pipeline): FindStep;
}
