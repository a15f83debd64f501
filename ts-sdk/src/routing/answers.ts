/** The answers that a route declares, by status. */
import type { StandardSchema } from "../schema/standard.ts";
import type { Operation } from "./operation.ts";

/** The schemas of bodies, by status; undefined for an answer without a declared body. */
export type Answers = Readonly<Record<number, StandardSchema | undefined>>;

/** Returns what a route declares: `responses`, or the one answer of `response` and `status`. */
export function answersOf({ status, options }: Pick<Operation, "status" | "options">): Answers {
  return options.responses ?? { [status]: options.response };
}
