/** Reads the values of secrets from the environment and from files. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { systemReason, TenonError } from "../errors.ts";
import { readTextFile } from "../text-file.ts";
import type { Environment } from "./config/parse.ts";
import { placeOfKey } from "./place-of-key.ts";

/** The file beside `tenon.toml` with variables for `tenon dev`. */
export const environmentFile = ".env";

/** The largest file of a secret, in bytes: a key with its chain fits many times. */
const MAX_BYTES = 64 * 1024;

/**
 * The values of `[secrets]`, by name.
 *
 * @param sources from `tenon.toml`: `env:NAME` or `file:path`
 * @param folder the base of relative paths
 * @param section the section's name in errors
 * @throws TenonError `CONFIG` naming each unavailable secret, and never a value
 */
export function resolveSecrets(
  sources: Readonly<Record<string, string>>,
  folder: string,
  environment: Environment,
  section = "secrets",
): Record<string, string> {
  const { values, problem } = availableSecrets(sources, folder, environment, section);
  if (problem !== undefined) throw problem;
  return values;
}

/** Does the same, and returns what is available beside the error about the others. */
export function availableSecrets(
  sources: Readonly<Record<string, string>>,
  folder: string,
  environment: Environment,
  section = "secrets",
): { readonly values: Record<string, string>; readonly problem?: TenonError } {
  const problems: string[] = [];
  const missing: string[] = [];
  const values = Object.entries(sources).flatMap(([name, source]) => {
    const found = valueAt(source, folder, environment);
    if ("value" in found) return [[name, found.value] as const];
    problems.push(`${placeOfKey(folder, section, name)}${section}.${name}: ${found.problem}`);
    if (source.startsWith("env:")) missing.push(source.slice("env:".length));
    return [];
  });
  const available = Object.fromEntries(values);
  if (problems.length === 0) return { values: available };
  return {
    values: available,
    problem: new TenonError("CONFIG", problems.join("\n"), missingHint(missing, folder, environment)),
  };
}

/** A hint for setting variables that are not set; undefined when there are none. */
export function missingHint(names: readonly string[], folder: string, environment: Environment): string | undefined {
  if (names.length === 0) return undefined;
  const inFile = Object.keys(variablesOf(folder)).filter(
    (name) => names.includes(name) && environment[name] === undefined,
  );
  if (inFile.length > 0)
    return `${environmentFile} is for \`tenon dev\`: set ${inFile.join(", ")} in the environment, such as with \`set -a; . ./${environmentFile}; set +a\``;
  return `set ${names.join(", ")} in the environment, or for \`tenon dev\` in the file ${environmentFile} beside tenon.toml`;
}

/** The variables of `.env` in a folder; none when it is missing or cannot be read. */
function variablesOf(folder: string): Environment {
  try {
    return variablesIn(readTextFile(join(folder, environmentFile)));
  } catch {
    return {};
  }
}

/**
 * An environment extended by `.env`. A variable that is set already wins.
 *
 * @throws TenonError `CONFIG` when the file can't be read
 */
export function withEnvironmentFile(folder: string, environment: Environment): Environment {
  const file = join(folder, environmentFile);
  if (!existsSync(file)) return environment;
  try {
    return { ...variablesIn(readTextFile(file)), ...environment };
  } catch (error) {
    throw new TenonError("CONFIG", `cannot read ${environmentFile}: ${systemReason(error)}`, undefined, error);
  }
}

/** Reads variables as Node does. Also with tabs and several blanks around `export`, which a shell accepts. */
function variablesIn(text: string): Environment {
  const found = Object.entries(parseEnv(text));
  return Object.fromEntries(found.map(([name, value]) => [name.replace(/^\s*(?:export\s+)?/, ""), value]));
}

/** Reads `env:NAME` or `file:path`. A problem names the place, and never the value. */
export function valueAt(
  source: string,
  folder: string,
  environment: Environment,
): { readonly value: string } | { readonly problem: string } {
  const [kind, rest] = [source.slice(0, source.indexOf(":")), source.slice(source.indexOf(":") + 1)];
  if (kind === "env") {
    const value = environment[rest];
    if (value === undefined) return { problem: `the environment variable ${rest} is not set` };
    return value === "" ? { problem: `the environment variable ${rest} is empty` } : { value };
  }
  const file = resolve(folder, rest);
  try {
    if (statSync(file).size > MAX_BYTES) return { problem: `${file} is larger than ${MAX_BYTES} bytes` };
    const value = readTextFile(file).replace(/\r?\n$/, "");
    if (value.includes("\0")) return { problem: `${file} is not text` };
    return value === "" ? { problem: `${file} is empty` } : { value };
  } catch (error) {
    return { problem: `cannot read ${file}: ${systemReason(error)}` };
  }
}
