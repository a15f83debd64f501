/** The option `onError`: turns exceptions into answers. */
import type { Request } from "../http/request.ts";
import { encodedResponse, Response } from "../http/response.ts";
import { reportError } from "./report.ts";

/** Turns an exception into an answer, or returns `undefined` for the ordinary one. */
export type OnError = (thrown: unknown, request: Request) => Response | undefined | Promise<Response | undefined>;

/** Answers an exception in a handler, which may have no name. */
type AnswerError = (thrown: unknown, request: Request, handler: string | undefined) => Promise<Response>;

/** Asks `onError` for the answer to an exception; `failed` makes the answer when `onError` returns none or throws. */
export function errorHandler(
  onError: OnError,
  failed: (thrown: unknown, handler: string | undefined) => Response,
): AnswerError {
  if (typeof onError !== "function") throw new TypeError('routes: "onError" must be a function');
  return async (thrown, request, handler) => {
    try {
      const answer = await onError(thrown, request);
      if (answer instanceof Response) return encodedResponse(answer);
      if (answer !== undefined)
        throw new TypeError("onError: it must return a response, or undefined for the ordinary 500");
    } catch (another) {
      reportError(handler, another);
    }
    return failed(thrown, handler);
  };
}
