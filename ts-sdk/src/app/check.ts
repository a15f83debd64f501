/** Compares answers with their declarations, in development and in tests. */
import { problem } from "../http/problem.ts";
import { problemResponse, type Response, VerbatimResponse } from "../http/response.ts";
import type { Operation } from "../routing/operation.ts";
import { Failures, INVALID, pointer } from "../schema/failures.ts";
import { isSchema, type Schema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { reportError } from "./report.ts";

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

async function findMismatch({ status, options }: Operation, response: Response): Promise<string | undefined> {
  if (response.status !== status) {
    return response.status < 300 ? `answered ${response.status}, but declares ${status}` : undefined;
  }
  const schema = options.response;
  if (!schema) return undefined;
  if (response instanceof VerbatimResponse)
    return "declares a JSON body, but answered with respond(), stream() or sse()";
  if (response.body === undefined) return "the response body # is required";
  // Compares the body as it is sent: dates are texts by then, and undefined fields are gone.
  const found = await findFailure(schema, JSON.parse(JSON.stringify(response.body)));
  return found && `the response body ${found}`;
}

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
