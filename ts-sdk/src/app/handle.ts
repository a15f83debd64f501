/** The way of a request through an app: match, read the input, call the handler, send the answer. */

import { appKey, WARM_UP } from "../abi.ts";
import { HttpError } from "../http/interrupt.ts";
import { failure, invalidInput, malformed, problem } from "../http/problem.ts";
import { Request } from "../http/request.ts";
import { encodedResponse, ok, problemResponse, Response, type WriteBody } from "../http/response.ts";
import { type ListedRoute, ROUTES_PATH } from "../http/routes-path.ts";
import { completedResponse, SENDING } from "../http/sending.ts";
import type { RawRequest, RawResponse } from "../raw.ts";
import type { AnyHandler, CheckResponse, Operation } from "../routing/operation.ts";
import type { Around, FoundOperation, Match, Recover } from "../routing/step.ts";
import type { RouteTable } from "../routing/table.ts";
import { bodyWriter } from "./answers.ts";
import type { App, HandleOptions } from "./app.ts";
import { type InputOrRefusal, inputReader, type ReadInput } from "./input.ts";
import { errorHandler, type OnError } from "./on-error.ts";
import { invalidHandler, type OnInvalid } from "./on-invalid.ts";
import { reportError } from "./report.ts";
import { send } from "./send.ts";

/** The parts that all operations of an app share. */
export interface AppParts {
  readonly prefix: string;
  readonly use: readonly Around[];
  readonly onError: OnError | undefined;
  readonly onInvalid: OnInvalid | undefined;
}

/** The context when no middleware has added anything. */
const NO_CONTEXT = Object.freeze({});

/** Makes an app from its operations and the table that finds them. */
export function createApp(
  operations: readonly Operation[],
  table: RouteTable,
  { prefix, use, onError, onInvalid }: AppParts,
): App<never> {
  const readers = new Map<Operation, ReadInput>(operations.map((operation) => [operation, inputReader(operation)]));
  const writers = new Map<Operation, WriteBody>();
  for (const operation of operations) {
    const { response, responses } = operation.options;
    if (response || responses) writers.set(operation, bodyWriter(operation));
  }
  const encode = (operation: Operation, response: Response) => encodedResponse(response, writers.get(operation));
  const ask = onError === undefined ? undefined : errorHandler(onError, failed);
  const refuse = onInvalid && invalidHandler(onInvalid);
  const recover: Recover = (thrown, request, handler) => {
    const answer = thrown instanceof HttpError ? thrown.response : thrown;
    if (answer instanceof Response) return answer;
    return ask && request ? ask(thrown, request, handler) : failed(thrown, handler);
  };

  const answerWithout = (match: Exclude<Match, FoundOperation>, request: Request) =>
    withoutOperation(match, request, operations);
  const [first] = [use, ...operations.map((each) => each.use)].flat();
  const findStep = first?.connect({ operations, table, use, call, settle, encode, answerWithout, recover });

  function handle(raw: RawRequest, options?: HandleOptions): RawResponse | Promise<RawResponse> {
    const { method } = raw;
    const check = options?.checkResponse;
    let request: Request | undefined;
    let name: string | undefined;
    let write: WriteBody | undefined;
    try {
      request = new Request(raw);
      const match = table.match(method, request.path);
      const { upload } = raw;
      if (match.found === "operation") write = writers.get(match.operation);
      if (upload && !takesPieces(match)) {
        return upload.rest().then(
          (body) => handle({ ...raw, body, upload: undefined }, options),
          // The host answers for it, and only reads from this that the call is over.
          () => send(problemResponse(problem(400, "The body broke off.")), method),
        );
      }
      // No code of the user's runs while a component is built.
      const step = findStep && method !== WARM_UP ? findStep(match) : undefined;
      if (step) return finish(step(request, NO_CONTEXT, { match, check }), request, name, write);
      if (match.found !== "operation") return send(answerWithout(match, request), method);
      const { operation } = match;
      name = operation.name;
      const answer = call(match, request, operation.handler, NO_CONTEXT);
      // A synchronous answer takes no promise: an asynchronous function costs as much as finding the route.
      if (answer instanceof Response && !check && !answer[SENDING]) return send(answer, method, write);
      return finish(settle(answer, operation, check), request, name, write);
    } catch (thrown) {
      return sendRecovered(thrown, request, method, name, write);
    }
  }

  /** Reads the input and calls the handler. */
  function call(
    found: FoundOperation,
    request: Request,
    handler: AnyHandler,
    context: object,
  ): Response | Promise<Response> {
    const read = (readers.get(found.operation) as ReadInput)(request, found.params, found.malformed);
    const proceed = ({ input, refusal }: InputOrRefusal) => {
      if (refusal) return refuse ? refuse(refusal, request) : refusal;
      return handler(input as never, request, context as never);
    };
    return read instanceof Promise ? read.then(proceed) : proceed(read);
  }

  /** Sends an answer when it is ready. */
  async function finish(
    answer: Response | Promise<Response>,
    request: Request,
    name: string | undefined,
    write: WriteBody | undefined,
  ): Promise<RawResponse> {
    try {
      const response = await answer;
      keepHeaders(request, response);
      return send(response[SENDING]?.complete ? await completedResponse(response) : response, request.method, write);
    } catch (thrown) {
      return sendRecovered(thrown, request, request.method, name, write);
    }
  }

  function sendRecovered(
    thrown: unknown,
    request: Request | undefined,
    method: string,
    name: string | undefined,
    write: WriteBody | undefined,
  ): RawResponse | Promise<RawResponse> {
    const trySend = (answer: Response) => {
      try {
        keepHeaders(request, answer);
        return send(answer, method, write);
      } catch (unsendable) {
        return send(failed(unsendable, name), method);
      }
    };
    const answer = recover(thrown, request, name);
    if (answer instanceof Response && !answer[SENDING]) return trySend(answer);
    return Promise.resolve(answer).then(completedResponse).then(trySend);
  }

  return Object.freeze({ [appKey]: true as const, prefix, use, operations: Object.freeze(operations), handle });
}

/** Reports whether a route reads the body piece by piece, with `octetStream`. */
function takesPieces(match: Match): boolean {
  return match.found === "operation" && "octets" in (match.operation.options.body ?? {});
}

/**
 * Reads the headers before a stream, because the host takes the request's memory back when it asks for the first piece.
 */
function keepHeaders(request: Request | undefined, answer: Response): void {
  if (answer[SENDING]?.start) void request?.headers;
}

/** Returns the handler's response, compared with its route's declaration where that is asked for. */
async function settle(
  answer: Response | Promise<Response>,
  operation: Operation,
  check: CheckResponse | undefined,
): Promise<Response> {
  const response = await answer;
  if (!(response instanceof Response))
    throw new TypeError("the handler returned no response: return ok(…) or the like");
  return check ? check(operation, response) : response;
}

/** The answer when no route matches. */
function withoutOperation(
  match: Exclude<Match, FoundOperation>,
  { method, path }: Request,
  operations: readonly Operation[],
): Response {
  if (match.found === "nothing") {
    if (path !== ROUTES_PATH || method !== "GET") return problemResponse(problem(404, "There is no such path."));
    return ok(
      Object.fromEntries(operations.map((each): [string, ListedRoute] => [each.name, [each.method, ...each.paths]])),
    );
  }
  if (match.found === "malformed") return problemResponse(invalidInput([malformed("path", [])]));
  const allow = ["allow", match.methods.join(", ")] as const;
  if (method === "OPTIONS") return new Response(204, [allow], undefined);
  return problemResponse(problem(405, "The path is known, but not with this method."), allow);
}

/** A 500 without details of the exception, which is written to stderr. */
function failed(thrown: unknown, name: string | undefined): Response {
  reportError(name, thrown);
  return problemResponse(failure());
}
