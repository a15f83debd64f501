/**
 * Declared answers: checks the option `responses`, and writes bodies with their declared members alone. An app whose
 * sources declare no response does not contain this code.
 */
import type { WriteBody } from "../http/response.ts";
import { isBodiless } from "../http/status.ts";
import { answersOf } from "../routing/answers.ts";
import type { Operation, RouteOptions } from "../routing/operation.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { writerOf } from "./declared-members.ts";
import { shapeOf } from "./shape.ts";

/** The options of a route while they are checked. */
type Writable = { -readonly [K in keyof RouteOptions]: RouteOptions[K] };

/**
 * Checks `responses`, and sets `status` to the first status that is no error.
 *
 * @param checked checks a schema, and makes one of inline fields
 * @throws TypeError or RangeError naming the invalid status
 */
export function checkAnswers(
  label: string,
  options: Writable,
  checked: (key: string, given: unknown) => StandardSchema,
): void {
  const given = options.responses as Readonly<Record<string, unknown>>;
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`${label}: "responses" must be an object of schemas, by status`);
  }
  for (const other of ["response", "status"] as const) {
    if (options[other] !== undefined) throw new TypeError(`${label}: "responses" takes the place of "${other}"`);
  }
  const answers = Object.entries(given).map(([key, schema]): [number, StandardSchema | undefined] => {
    const status = Number(key);
    const name = `responses.${key}`;
    if (!(Number.isInteger(status) && status >= 200 && status <= 599)) {
      throw new RangeError(`${label}: "${name}": a status must be from 200 to 599`);
    }
    if (schema === undefined || schema === null) return [status, undefined];
    if (isBodiless(status))
      throw new TypeError(`${label}: "${name}": an answer with status ${status} must have no body`);
    return [status, checked(name, schema)];
  });
  const success = answers.find(([status]) => status < 400);
  if (success === undefined) throw new TypeError(`${label}: "responses" must have a status below 400`);
  options.responses = Object.freeze(Object.fromEntries(answers));
  options.status = success[0];
}

/**
 * Composes the function that writes an operation's bodies, once: each with the members that its status declares. A body
 * without a declaration is written as it is.
 */
export function bodyWriter(operation: Operation): WriteBody {
  const writers = new Map(
    Object.entries(answersOf(operation)).flatMap(([status, schema]) =>
      schema === undefined ? [] : [[Number(status), writerOf(shapeOf(schema))] as const],
    ),
  );
  return (status, body) => (body === undefined ? undefined : writers.get(status)?.(body));
}
