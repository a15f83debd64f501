/** Checks of options, and their messages. */
import { TenonError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { type Kind, text } from "../project/config/kinds.ts";
import { isUrl } from "./module-source.ts";

/** Checks the value of an option; `path` is its name. The value is not repeated, because it may be a secret. */
export type OptionCheck = (path: string, value: unknown) => string[];

export type OptionChecks = Readonly<Record<string, OptionCheck>>;

/**
 * The problems of an object of options.
 *
 * @param home says where an option belongs that is not one of these
 * @param path the option that is this object; none for the argument of a function
 */
export function problemsOf(
  options: object,
  checks: OptionChecks,
  home: (name: string) => string | undefined,
  path?: string,
): string[] {
  const [place, prefix] = path === undefined ? ["", ""] : [`${path}: `, `${path}.`];
  return Object.entries(options).flatMap(([name, value]) => {
    const known = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (known !== undefined) return value === undefined ? [] : known(`${prefix}${name}`, value);
    const other = home(name);
    if (other !== undefined) return [`${place}unknown option \`${name}\`; it is ${other}`];
    const near = nearest(name, Object.keys(checks));
    const rest = near === undefined ? `known are ${Object.keys(checks).join(", ")}` : `did you mean \`${near}\`?`;
    return [`${place}unknown option \`${name}\`; ${rest}`];
  });
}

/** {@link problemsOf} for an option whose unknown members belong nowhere else, unless `home` says so. */
export function problemsBelow(
  path: string,
  options: object,
  checks: OptionChecks,
  home: (name: string) => string | undefined = () => undefined,
): string[] {
  return problemsOf(options, checks, home, path);
}

/** @throws TenonError `CONFIG` when there are problems */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new TenonError("CONFIG", problems.join("\n"));
}

/** A check of a value, and the words for the right ones. */
export function check(description: string, fits: (value: unknown) => boolean): OptionCheck {
  return (path, value) => (fits(value) ? [] : [`\`${path}\` must be ${description}`]);
}

/** A check by a kind of value in `tenon.toml`. */
export function checkKind({ description, read }: Kind<unknown>): OptionCheck {
  return check(description, (value) => read(value) !== undefined);
}

/** A check of an object of texts; `names` is the rule for its names. */
export function textsByName(
  description: string,
  names?: { readonly pattern: RegExp; readonly description: string },
): OptionCheck {
  const each = checkKind(text);
  return (path, value) => {
    if (!isRecord(value)) return [`\`${path}\` must be ${description}`];
    return Object.entries(value).flatMap(([name, given]) =>
      names?.pattern.test(name) === false
        ? [`\`${name}\` is not a name for \`${path}\`: ${names.description}`]
        : each(`${path}.${name}`, given),
    );
  };
}

/** A check of a text by a rule of `tenon.toml`. */
export function checkProblem(problemOf: (text: string) => string | undefined): OptionCheck {
  return (path, value) => {
    const problem = typeof value === "string" ? problemOf(value) : "must be a string";
    return problem === undefined ? [] : [`\`${path}\` ${problem}`];
  };
}

/** Reports whether a value is an object whose properties are its content, unlike lists, maps and URLs. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value) && !isUrl(value);
}
