import { HttpError } from "../http/interrupt.ts";
import { invalidInput, malformed, problem } from "../http/problem.ts";
import { type RawRequest, Request } from "../http/request.ts";
import { problemResponse, Response } from "../http/response.ts";
import type { Operation } from "../routing/operation.ts";
import type { Match, RouteTable } from "../routing/table.ts";
import { type App, appKey, type CheckResponse, type HandleOptions, type RawResponse } from "./app.ts";
import { inputReader, type ReadInput } from "./input.ts";
import { reportError } from "./report.ts";
import { send } from "./send.ts";

/** Makes the app of its operations and the table that finds them. */
export function createApp(operations: readonly Operation[], table: RouteTable): App {
  const readers = new Map<Operation, ReadInput>(operations.map((operation) => [operation, inputReader(operation)]));

  function handle(raw: RawRequest, options?: HandleOptions): RawResponse | Promise<RawResponse> {
    let operation: Operation | undefined;
    try {
      const request = new Request(raw);
      const match = table.match(request.method, request.path);
      if (match.found !== "operation") return send(withoutOperation(match, request.method), request.method);
      operation = match.operation;
      const handler = options?.insteadOfHandlers ?? operation.handler;
      const read = (readers.get(operation) as ReadInput)(request, match.params, match.malformed);
      const answer =
        read instanceof Promise
          ? read.then(({ input, refusal }) => refusal ?? handler(input as never, request))
          : (read.refusal ?? handler(read.input as never, request));
      // An asynchronous function costs as much as finding the route does: not for what is there at once.
      if (answer instanceof Response && !options?.checkResponse) return send(answer, request.method);
      return settle(answer, operation, raw.method, options?.checkResponse);
    } catch (thrown) {
      return recover(thrown, operation, raw.method);
    }
  }

  return Object.freeze({ [appKey]: true as const, operations: Object.freeze(operations), handle });
}

/** What there is to wait for after the handler was called. */
async function settle(
  answer: Response | Promise<Response>,
  operation: Operation,
  method: string,
  check: CheckResponse | undefined,
): Promise<RawResponse> {
  try {
    let response = await answer;
    if (!(response instanceof Response))
      throw new TypeError("the handler returned no response: return ok(…) or the like");
    if (check) response = await check(operation, response);
    return send(response, method);
  } catch (thrown) {
    return recover(thrown, operation, method);
  }
}

/** The answer where no handler is to be called. */
function withoutOperation(match: Exclude<Match, { found: "operation" }>, method: string): Response {
  if (match.found === "nothing") return problemResponse(problem(404, "There is no such path."));
  if (match.found === "malformed") return problemResponse(invalidInput([malformed("path", [])]));
  const allow = ["allow", match.methods.join(", ")] as const;
  if (method === "OPTIONS") return new Response(204, [allow], undefined);
  return problemResponse(problem(405, "The path is known, but not with this method."), allow);
}

/** The answer to what a handler threw: an answer, bare or in an error, or a 500 that says nothing of the exception. */
function recover(thrown: unknown, operation: Operation | undefined, method: string): RawResponse {
  let uncaught = thrown;
  const answer = thrown instanceof HttpError ? thrown.response : thrown;
  if (answer instanceof Response) {
    try {
      return send(answer, method);
    } catch (unsendable) {
      uncaught = unsendable;
    }
  }
  reportError(operation?.name, uncaught);
  return send(problemResponse(problem(500)), method);
}
