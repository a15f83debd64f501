/** Reads the values of secrets from the environment and from files. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { systemReason, TenonError } from "../errors.ts";
import { readTextFile } from "../text-file.ts";

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

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
  const problems: string[] = [];
  const values = Object.entries(sources).flatMap(([name, source]) => {
    const found = valueAt(source, folder, environment);
    if ("value" in found) return [[name, found.value] as const];
    problems.push(`${section}.${name}: ${found.problem}`);
    return [];
  });
  if (problems.length > 0) throw new TenonError("CONFIG", problems.join("\n"));
  return Object.fromEntries(values);
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
