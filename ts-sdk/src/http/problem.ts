/** Problem details (RFC 9457). */
import type { Failure } from "../schema/failures.ts";
import { MAX_FAILURES, pointer } from "../schema/failures.ts";
import { reasonPhrase } from "./status.ts";

/** The body of every error answer: problem details (RFC 9457, which replaces RFC 7807). */
export interface ProblemDetails {
  /** A URI that names the kind of problem; `about:blank` when the status is enough. */
  readonly type: string;
  /** A short summary of the kind of problem. */
  readonly title: string;
  /** The status code of the answer. */
  readonly status: number;
  /** An explanation of this occurrence. */
  readonly detail?: string;
  /** A URI that names this occurrence. */
  readonly instance?: string;
  /** The failures of an input that is not valid. */
  readonly errors?: readonly InputError[];
  /** Extension members. */
  readonly [extension: string]: unknown;
}

/** The part of a request that an input comes from. */
export type InputKind = "path" | "query" | "header" | "body";

/** One entry of the extension member `errors` of a 400 answer. It never contains the given value. */
export interface InputError {
  readonly in: InputKind;
  /** A JSON pointer in URI fragment form, `#/address/zip`; `#` for the input as a whole. */
  readonly pointer: string;
  readonly code: Failure["code"];
  readonly detail: string;
}

/** The problem details of a status, with the members of `extra`. */
export function problem(
  status: number,
  detail: string,
  { type = "about:blank", title = reasonPhrase(status), ...others }: Readonly<Record<string, unknown>> = {},
): ProblemDetails {
  const own = { status, detail };
  return { type, title, ...own, ...others, ...own } as ProblemDetails;
}

/** The problem details of an exception, without anything of it. */
export function failure(): ProblemDetails {
  return problem(500, "The request failed.");
}

/** The entries for the failures of one input. */
export function inputErrors(where: InputKind, failures: readonly Failure[]): InputError[] {
  return failures.map(({ path, code, detail }) => ({ in: where, pointer: pointer(path), code, detail }));
}

const MALFORMED = "must be percent-encoded UTF-8";

/** The entry for an input that can't be decoded. */
export function malformed(where: InputKind, path: readonly PropertyKey[]): InputError {
  return { in: where, pointer: pointer(path), code: "format", detail: MALFORMED };
}

/**
 * The problem details of a 400 answer besides its list of errors. An input that can't be decoded gets one entry only.
 */
export function invalidInput(errors: readonly InputError[]): ProblemDetails {
  const undecoded = errors.filter(({ detail }) => detail === MALFORMED);
  const shown = errors.slice(0, MAX_FAILURES).filter((error) => {
    const said = undecoded.find((other) => other.in === error.in && other.pointer === error.pointer);
    return said === undefined || said === error;
  });
  const detail = `The input is not valid${errors.length <= MAX_FAILURES ? "" : `; the first ${MAX_FAILURES} errors are listed`}.`;
  return problem(400, detail, { errors: shown });
}
