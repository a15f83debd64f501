import type { InputError, InputKind } from "../http/problem.ts";
import { type FailureCode, MAX_COLLECTED, pointer } from "../schema/failures.ts";
import type { StandardIssue, StandardResult, StandardSchema } from "../schema/standard.ts";
import type { ParseInput } from "./input.ts";
import type { OtherForm, QueryValues } from "./query-string.ts";

/**
 * Parses with another library's schema, and puts its issues into the shape of our errors.
 *
 * @param otherForm for a query: gives another form of what is refused, to try before that
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
      // What is right in one of the two forms is not what is wrong.
      const keys = new Set(again.map((issue) => pathOf(issue)[0]));
      const both = issues.filter((issue) => keys.has(pathOf(issue)[0]));
      report(both.length > 0 ? both : issues);
    });
  });
}

/** The keys that lead to what an issue is about. */
export function pathOf({ path }: StandardIssue): PropertyKey[] {
  // Of a class of its own in ArkType, whose `map` makes another thing of an empty one.
  return Array.from(path ?? [], (step) => (typeof step === "object" ? step.key : step));
}

function inputError(kind: InputKind, value: unknown, issue: StandardIssue): InputError {
  const path = pathOf(issue);
  const given = valueAt(value, path);
  // What the libraries' own messages end with: "(was …)", "but received …", ": Received …".
  const message = issue.message.replace(/ \(was .*| but received .*|: Received .*/s, "");
  if (value === undefined) return { in: kind, pointer: "#", code: "required", detail: "is required" };
  // A message of the program's own may speak of any part of the input.
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

// Standard Schema has no codes. The libraries give their own issues, and these words in them are stable enough.
const CODES: readonly (readonly [RegExp, FailureCode])[] = [
  [/^too_small$|^min/, "min"],
  [/^too_big$|^max/, "max"],
  [/^invalid_format$|^regex$|^pattern$|^email$|^uuid$|^url$|^ip|^iso_/, "format"],
  [/^invalid_value$|^picklist$|^enum$|^literal$|^unit/, "enum"],
];

/** The same words for a length that is one number. */
const EXACT = /^length$|^exactLength$/;

/** Issues that a program makes itself: by `refine` and the like in Zod, `check` in Valibot, `narrow` in ArkType. */
const OWN_MESSAGE = /^$|^custom$|check|^raw_|^predicate$/;

/** The library's own word for what is wrong; none where it has no such words. */
function wordOf(issue: StandardIssue): string {
  const { code, type, errors } = issue as { code?: unknown; type?: unknown; errors?: readonly { code?: unknown }[] };
  // ArkType has what each branch of a union says.
  return code === "union" ? String(errors?.map((each) => each.code)) : String(code ?? type ?? "");
}

function codeOf(issue: StandardIssue, given: unknown): FailureCode {
  if (given === undefined) return "required";
  const word = wordOf(issue);
  // Of an exact length Valibot and ArkType do not say on which side of it the value is.
  const { requirement, rule } = issue as { requirement?: unknown; rule?: unknown };
  if (EXACT.test(word))
    return Number((given as { length?: unknown } | null)?.length) < Number(requirement ?? rule) ? "min" : "max";
  return CODES.find(([pattern]) => pattern.test(word))?.[1] ?? "type";
}

/** How many values inside an object are compared with a message before it is given up as unsafe. */
const MAX_COMPARED = 10_000;

/** How long a value is that is looked for inside words, too. */
const LONG = 4;

/**
 * Whether a message quotes the value that was given, as some libraries' do, or what they made of it (trimmed, in other
 * case, a number): by its words, with or without the escapes of JSON. An error answer never repeats it: it could be a
 * password, and it ends up in logs.
 *
 * @param inWords whether it may also stand inside other words
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
