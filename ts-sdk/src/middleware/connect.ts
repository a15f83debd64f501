import { Response } from "../http/response.ts";
import type { Operation } from "../routing/operation.ts";
import type { Around, FindStep, FoundOperation, Pipeline, Step } from "../routing/step.ts";

/**
 * Connects the middleware of an app with its handlers. Each step inside middleware returns an answer and never throws:
 * an exception becomes an answer for the next step outwards.
 */
export function connect({ operations, table, use, call, settle, encode, answerWithout, recover }: Pipeline): FindStep {
  const callHandler: Step = (request, context, { match, check }) => {
    const { operation } = match as FoundOperation;
    try {
      const answer = call(match as FoundOperation, request, operation.handler, context);
      if (answer instanceof Response && !check) return encode(operation, answer);
      const settled = settle(answer, operation, check).then((response) => encode(operation, response));
      return settled.catch((thrown) => recover(thrown, request, operation.name));
    } catch (thrown) {
      return recover(thrown, request, operation.name);
    }
  };
  /** Puts middleware around a step; the first becomes the outermost. */
  const wrap = (around: readonly Around[], inner: Step) =>
    around.reduceRight((step, each) => each.around(step, recover), inner);
  const steps = new Map<Operation, Step>();
  for (const operation of operations) {
    if (operation.use.length > 0) steps.set(operation, wrap(operation.use, callHandler));
  }
  const [aroundPreflight] = operations.flatMap((each) => each.use.flatMap((around) => around.aroundPreflight ?? []));
  const dispatch: Step = (request, context, arrived) => {
    const { match } = arrived;
    if (match.found === "operation") return (steps.get(match.operation) ?? callHandler)(request, context, arrived);
    const around = aroundPreflight?.(request, match, table) ?? [];
    return wrap(around, () => answerWithout(match, request))(request, context, arrived);
  };
  const outermost = use.length > 0 ? wrap(use, dispatch) : undefined;
  return (match) =>
    outermost ?? (match.found === "operation" ? steps.get(match.operation) : aroundPreflight && dispatch);
}
