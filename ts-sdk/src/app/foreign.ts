/** Inputs with schemas of other libraries. */
import type { InputError, InputKind } from "../http/problem.ts";
import { type FailureCode, MAX_COLLECTED, pointer } from "../schema/failures.ts";
import type { StandardIssue, StandardResult, StandardSchema } from "../schema/standard.ts";
import type { OtherForm, QueryValues } from "./query-string.ts";

/** Parses a value and adds its failures to `errors`. */
export type ParseInput = (value: unknown, errors: InputError[]) => unknown;

/**
 * Parses with another library's schema, and converts its issues to our errors.
 *
 * @param otherForm for a query: returns another form of refused values, to try before they are reported
 */
export function foreignParser(schema: StandardSchema, kind: InputKind, otherForm: OtherForm | undefined): ParseInput {
  return (value, errors) => validateForeign(schema, kind, value, errors, otherForm);
}

function validateForeign(
  schema: StandardSchema,
  kind: InputKind,
  value: unknown,
  errors: InputError[],
  otherForm: OtherForm | undefined,
): unknown {
  const validate = (form: unknown, refused: (issues: readonly StandardIssue[]) => unknown): unknown => {
    const finish = (result: StandardResult<unknown>) => (result.issues ? refused(result.issues) : result.value);
    const result = schema["~standard"].validate(form);
    return result instanceof Promise ? result.then(finish) : finish(result);
  };
  return validate(value, (issues) => {
    const report = (wrong: readonly StandardIssue[]) => {
      for (const issue of wrong.slice(0, MAX_COLLECTED)) errors.push(inputError(kind, value, issue));
    };
    if (otherForm === undefined) return report(issues);
    return validate(otherForm(value as QueryValues, issues), (again) => {
      // A key that is valid in one of the two forms is not reported.
      const keys = new Set(again.map((issue) => pathOf(issue)[0]));
      const both = issues.filter((issue) => keys.has(pathOf(issue)[0]));
      report(both.length > 0 ? both : issues);
    });
  });
}

/** The keys of the path to an issue's value. */
export function pathOf({ path }: StandardIssue): PropertyKey[] {
  // ArkType's path is a class of its own, whose `map` breaks for an empty path.
  return Array.from(path ?? [], (step) => (typeof step === "object" ? step.key : step));
}

function inputError(kind: InputKind, value: unknown, issue: StandardIssue): InputError {
  const path = pathOf(issue);
  const given = valueAt(value, path);
  // The libraries end their messages with the given value: "(was …)", "but received …", ": Received …".
  const message = issue.message.replace(/ \(was .*| but received .*|: Received .*/s, "");
  if (value === undefined) return { in: kind, pointer: "#", code: "required", detail: "is required" };
  // A message of the program's own may quote any part of the input.
  const secret = OWN_MESSAGE.test(wordOf(issue)) ? repeats(message, value, true) : repeats(message, given, false);
  const detail = secret ? "is not valid" : message;
  return { in: kind, pointer: pointer(path), code: codeOf(issue, given), detail };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path)
    at = typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined;
  return at;
}

// Standard Schema has no codes. The libraries return their own issues, whose codes are stable enough.
const CODES: readonly (readonly [RegExp, FailureCode])[] = [
  [/^too_small$|^min/, "min"],
  [/^too_big$|^max/, "max"],
  [/^invalid_format$|^regex$|^pattern$|^email$|^uuid$|^url$|^ip|^iso_/, "format"],
  [/^invalid_value$|^picklist$|^enum$|^literal$|^unit/, "enum"],
];

/** The codes of a length that must be one exact number. */
const EXACT = /^length$|^exactLength$/;

/**
 * The codes of issues that a program makes itself: by `refine` and the like in Zod, `check` in Valibot, `narrow` in
 * ArkType.
 */
const OWN_MESSAGE = /^$|^custom$|check|^raw_|^predicate$/;

/** The library's own code for an issue; empty when it has none. */
function wordOf(issue: StandardIssue): string {
  const { code, type, errors } = issue as { code?: unknown; type?: unknown; errors?: readonly { code?: unknown }[] };
  // ArkType nests the issues of a union's branches.
  return code === "union" ? String(errors?.map((each) => each.code)) : String(code ?? type ?? "");
}

function codeOf(issue: StandardIssue, given: unknown): FailureCode {
  if (given === undefined) return "required";
  const word = wordOf(issue);
  // Valibot and ArkType do not report whether the value is too short or too long for an exact length.
  const { requirement, rule } = issue as { requirement?: unknown; rule?: unknown };
  if (EXACT.test(word))
    return Number((given as { length?: unknown } | null)?.length) < Number(requirement ?? rule) ? "min" : "max";
  return CODES.find(([pattern]) => pattern.test(word))?.[1] ?? "type";
}

/** The limit of values inside an object that are compared with a message; beyond it, the message counts as unsafe. */
const MAX_COMPARED = 10_000;

/** The shortest value that is searched for inside words, too. */
const LONG = 4;

/**
 * Reports whether a message quotes the given value, as some libraries' messages do, or a form of it (trimmed, in other
 * case, a number). It compares words, with and without JSON's escapes. An error answer never repeats the value: it
 * could be a password, and it ends up in logs.
 *
 * @param inWords whether the value may also be part of a word
 */
function repeats(message: string, given: unknown, inWords: boolean): boolean {
  const said = words(message);
  const lower = message.toLowerCase();
  const numbers = message.match(/-?\d+(?:\.\d+)?/g) ?? [];
  let left = MAX_COMPARED;
  const visit = (value: unknown): boolean => {
    if (left-- <= 0) return true;
    if (typeof value === "object" && value !== null) return Object.values(value).some(visit);
    if (value === undefined || value === null) return false;
    const text = String(value);
    const parts = words(text);
    if (parts === " ") return text !== "" && message.includes(text);
    if (inWords && text.length >= LONG && lower.includes(text.toLowerCase())) return true;
    if (said.includes(parts) || said.includes(words(JSON.stringify(text)))) return true;
    return numbers.some((number) => Number(number) === Number(text));
  };
  return visit(given);
}

/** The words and numbers of a text, in lower case, with a space on either side. */
function words(text: string): string {
  return ` ${text
    .toLowerCase()
    .split(/[\0-/:-@[-`{-\x7f]+/)
    .join(" ")
    .trim()} `.replace(/^ +$/, " ");
}
