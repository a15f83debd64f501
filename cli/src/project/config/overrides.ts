/** Environment variables that win over `tenon.toml`. */
import { nearest } from "../../nearest.ts";
import { camelCase, type Key, type OpenSection, type Section, type TableSection, variableOf } from "./key.ts";
import { sections } from "./keys.ts";
import type { Draft, Environment } from "./parse.ts";
import type { Report } from "./report.ts";

/**
 * Lets variables of the environment win over the file: `TENON_SERVER_PORT=8080`, `TENON_SIDECARS_DB=unix:///run/db.sock`,
 * `TENON_ENV_GREETING=hi`. A variable that begins with a section and names no key of it is a mistake, as in the file;
 * others that begin with `TENON_` are not looked at. No value is repeated in an error: it may be a secret.
 */
export function readOverrides(draft: Draft, environment: Environment, report: Report): void {
  for (const [name, section] of Object.entries<Section | OpenSection | TableSection>(sections)) {
    const prefix = variableOf(name, "");
    const found = Object.entries(environment).filter(
      (pair): pair is [string, string] => pair[0].startsWith(prefix) && pair[1] !== undefined,
    );
    const values = draft[name] ?? {};
    for (const [variable, given] of found) {
      const rest = variable.slice(prefix.length);
      const target = targetOf(name, section, variable, rest, values);
      if (target === undefined) report.addElsewhere(unknown(name, section, variable));
      else {
        const value = read(variable, target.definition, given, report);
        if (value !== undefined) values[target.property] = value;
      }
    }
  }
}

/** No variable names a key of a table, because the end of the table's name would be ambiguous. */
function targetOf(
  name: string,
  section: Section | OpenSection | TableSection,
  variable: string,
  rest: string,
  values: Readonly<Record<string, unknown>>,
): Target | undefined {
  if ("keys" in section) return known(name, section, variable);
  return "each" in section ? undefined : named(name, section, rest, values);
}

interface Target {
  readonly property: string;
  readonly definition: Key<unknown>;
}

function known(name: string, { keys }: Section, variable: string): Target | undefined {
  const found = Object.entries(keys).find(([key]) => variableOf(name, key) === variable);
  return found && { property: camelCase(found[0]), definition: found[1] };
}

function named(
  name: string,
  { names, values }: OpenSection,
  rest: string,
  given: Readonly<Record<string, unknown>>,
): Target | undefined {
  // Variables of a module are written as they are. Sidecars are those of the file, of which a shell can't write every
  // name (`my-db` is TENON_SIDECARS_MY_DB), or else in lower case.
  const known = Object.keys(given).find((each) => names.together?.([each, rest]) !== undefined);
  const property = name === "env" ? rest : (known ?? rest.toLowerCase());
  return names.pattern.test(property) ? { property, definition: values } : undefined;
}

function read(variable: string, { kind, ...key }: Key<unknown>, given: string, report: Report): unknown {
  const value = kind.fromText(given);
  const problem = value === undefined ? `must be ${kind.description}` : key.problem?.(value);
  if (problem !== undefined) report.addElsewhere(`the environment variable ${variable} ${problem}`);
  return problem === undefined ? value : undefined;
}

function unknown(name: string, section: Section | OpenSection | TableSection, variable: string): string {
  if (!("keys" in section)) return `the environment variable ${variable} names nothing in [${name}]`;
  const near = nearest(
    variable,
    Object.keys(section.keys).map((key) => variableOf(name, key)),
  );
  const rest = near === undefined ? "" : `; did you mean ${near}?`;
  return `the environment variable ${variable} is not a key of [${name}]${rest}`;
}
