import type { InputError, InputKind } from "../http/problem.ts";
import { type FailureCode, MAX_FAILURES, pointer } from "../schema/failures.ts";
import type { StandardIssue, StandardResult, StandardSchema } from "../schema/standard.ts";

/** Validates with another library's schema, and puts its issues into the shape of our errors. */
export function validateForeign(
  schema: StandardSchema,
  kind: InputKind,
  value: unknown,
  errors: InputError[],
): unknown {
  const finish = (result: StandardResult<unknown>): unknown => {
    if (!result.issues) return result.value;
    for (const issue of result.issues.slice(0, MAX_FAILURES)) errors.push(inputError(kind, value, issue));
    return undefined;
  };
  const result = schema["~standard"].validate(value);
  return result instanceof Promise ? result.then(finish) : finish(result);
}

function inputError(kind: InputKind, value: unknown, issue: StandardIssue): InputError {
  const path = (issue.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
  const given = valueAt(value, path);
  const detail = repeats(issue.message, given) ? "is not valid" : issue.message;
  return { in: kind, pointer: pointer(path), code: codeOf(issue, given), detail };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path)
    at = typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined;
  return at;
}

// Standard Schema has no codes. The libraries give their own issues, and these words in them are stable enough.
const CODES: readonly (readonly [RegExp, FailureCode])[] = [
  [/^too_small$|^min_/, "min"],
  [/^too_big$|^max_/, "max"],
  [/^invalid_format$|^regex$|^email$|^uuid$|^url$|^ip|^iso_/, "format"],
  [/^invalid_value$|^picklist$|^enum$|^literal$/, "enum"],
];

function codeOf(issue: StandardIssue, given: unknown): FailureCode {
  if (given === undefined) return "required";
  const { code, type } = issue as { code?: unknown; type?: unknown };
  const word = String(code ?? type ?? "");
  return CODES.find(([pattern]) => pattern.test(word))?.[1] ?? "type";
}

/** How many values inside an object are compared with a message before it is given up as unsafe. */
const MAX_COMPARED = 1000;

/**
 * Whether a message quotes the value that was given, as some libraries' do. An error answer never repeats it: it could
 * be a password, and it ends up in logs.
 */
function repeats(message: string, given: unknown): boolean {
  let left = MAX_COMPARED;
  const visit = (value: unknown): boolean => {
    if (left-- <= 0) return true;
    if (typeof value === "object" && value !== null) return Object.values(value).some(visit);
    return value !== undefined && value !== null && typeof value !== "boolean" && quotes(message, String(value));
  };
  return visit(given);
}

/** Whether `word` stands in `message` by itself, not as a part of another word. */
function quotes(message: string, word: string): boolean {
  if (word === "") return false;
  const isWordy = (character: string | undefined) => character !== undefined && /[A-Za-z0-9]/.test(character);
  for (let at = message.indexOf(word); at >= 0; at = message.indexOf(word, at + 1)) {
    const startsInside = isWordy(word[0]) && isWordy(message[at - 1]);
    const endsInside = isWordy(word.at(-1)) && isWordy(message[at + word.length]);
    if (!startsInside && !endsInside) return true;
  }
  return false;
}
