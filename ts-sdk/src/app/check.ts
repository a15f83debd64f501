/** Compares answers with their declarations, in development and in tests. */
import { problem } from "../http/problem.ts";
import { isPromise, PROMISE, problemResponse, type Response, VerbatimResponse } from "../http/response.ts";
import { answersOf } from "../routing/answers.ts";
import type { Operation } from "../routing/operation.ts";
import { Failures, INVALID, pointer } from "../schema/failures.ts";
import { isSchema, type Schema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { reportError } from "./report.ts";
import { warnOfUndeclared } from "./undeclared.ts";

/**
 * Compares an answer with its route's declaration: the status of every success, and the body at the declared status.
 * Returns the answer itself when it matches, else a 500 that names the difference; for development only.
 */
export async function checkResponse(operation: Operation, response: Response): Promise<Response> {
  const mismatch = await findMismatch(operation, response);
  if (mismatch === undefined) return response;
  const detail = `${operation.name}: ${mismatch}`;
  reportError(operation.name, new TypeError(mismatch));
  return problemResponse(problem(500, detail));
}

async function findMismatch(operation: Operation, response: Response): Promise<string | undefined> {
  const { status, body } = response;
  const answers = answersOf(operation);
  if (!Object.hasOwn(answers, status)) {
    return status < 300 ? `answered ${status}, but declares ${Object.keys(answers).join(", ")}` : undefined;
  }
  if (isPromise(body)) return PROMISE;
  const pending = response instanceof VerbatimResponse ? undefined : promiseIn(body, []);
  if (pending !== undefined) return `the response body ${pointer(pending)} is a promise; await it first`;
  const schema = answers[status];
  if (!schema) return undefined;
  if (response instanceof VerbatimResponse)
    return "declares a JSON body, but answered with respond(), stream() or sse()";
  if (body === undefined) return "the response body # is required";
  // Compares the body as it is sent: dates are texts by then, and undefined fields are gone.
  const sent = JSON.parse(JSON.stringify(body));
  warnOfUndeclared(operation, schema, sent);
  const found = await findFailure(schema, sent);
  return found && `the response body ${found}`;
}

/** The path to a promise in a body; undefined when there is none. */
function promiseIn(value: unknown, path: PropertyKey[]): PropertyKey[] | undefined {
  if (typeof value !== "object" || value === null || path.length > MAX_DEPTH) return undefined;
  if (isPromise(value)) return path;
  for (const [key, member] of Object.entries(value)) {
    const found = promiseIn(member, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The depth to which promises are searched for: a value may contain itself. */
const MAX_DEPTH = 10;

async function findFailure(schema: StandardSchema, value: unknown): Promise<string | undefined> {
  if (!isSchema(schema)) {
    const { issues } = await schema["~standard"].validate(value);
    if (!issues) return undefined;
    return issues.map(({ message, path = [] }) => `${pointer(path.map(stepKey))} ${message}`).join("; ");
  }
  const failures = new Failures(true);
  if ((schema as Schema).parsers.json(value, failures) !== INVALID) return undefined;
  return failures.list.map(({ path, detail }) => `${pointer(path)} ${detail}`).join("; ");
}

function stepKey(step: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  return typeof step === "object" ? step.key : step;
}
