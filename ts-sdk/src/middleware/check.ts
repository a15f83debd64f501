import type { Around } from "../routing/step.ts";

/** @throws TypeError when `given` is not a list of middleware. */
export function checkMiddleware(what: string, given: unknown): readonly Around[] {
  const list = Array.isArray(given) ? (given as readonly Partial<Around>[]) : [undefined];
  if (list.every((each) => typeof each?.around === "function")) return list as readonly Around[];
  throw new TypeError(`${what}: expects middleware, made with middleware(…) or by a function such as cors(…)`);
}
