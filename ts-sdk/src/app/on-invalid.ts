/** The option `onInvalid`: answers inputs that do not validate. */
import type { InputError, ProblemDetails } from "../http/problem.ts";
import type { Request } from "../http/request.ts";
import { Response } from "../http/response.ts";

/** The problem details of an input that does not validate. */
export interface InvalidInput extends ProblemDetails {
  readonly errors: readonly InputError[];
}

/** Answers an input that does not validate, or returns `undefined` for the ordinary 400. */
export type OnInvalid = (
  problem: InvalidInput,
  request: Request,
) => Response | undefined | Promise<Response | undefined>;

/** Asks `onInvalid` for the answer in place of a refusal. Other refusals than 400 stay as they are. */
type AnswerInvalid = (refusal: Response, request: Request) => Response | Promise<Response>;

/** @throws TypeError when `onInvalid` is not a function. */
export function invalidHandler(onInvalid: OnInvalid): AnswerInvalid {
  if (typeof onInvalid !== "function") throw new TypeError('routes: "onInvalid" must be a function');
  const checked = (answer: Response | undefined, refusal: Response): Response => {
    if (answer === undefined || answer instanceof Response) return answer ?? refusal;
    throw new TypeError("onInvalid: must return a response, or undefined for the ordinary 400");
  };
  return (refusal, request) => {
    if (refusal.status !== 400) return refusal;
    const answer = onInvalid(refusal.body as InvalidInput, request);
    return answer instanceof Promise ? answer.then((each) => checked(each, refusal)) : checked(answer, refusal);
  };
}
