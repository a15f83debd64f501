/** A sidecar in the server's process, as a table in `[sidecars]` and as an option of `Runtime.create`. */
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";
import {
  hasOption,
  type SidecarKind,
  type SidecarOptionKey,
  sidecarKindNames,
  sidecarOption,
  sidecarOptionKeys,
  sidecarOptions,
} from "../../embed/sidecar-kinds.ts";
import { nearest } from "../../nearest.ts";
import { hasPassword, sidecarProblem, sidecarRule } from "./addresses.ts";
import { type CamelCase, camelCase } from "./key.ts";
import { isTable, type Kind, oneOf, text } from "./kinds.ts";

const values = Object.fromEntries(sidecarOptionKeys.map((key) => [key, sidecarOptions[key].value])) as {
  readonly [N in SidecarOptionKey]: (typeof sidecarOptions)[N]["value"];
};

const keys = { run: oneOf(...sidecarKindNames), url: text, url_file: text, ...values } as const;

type Keys = typeof keys;

/** A sidecar in the server's process, as `tenon.toml` has it. */
export type InProcessTable = { readonly run: SidecarKind } & {
  readonly [N in Exclude<keyof Keys, "run"> as CamelCase<N>]?: Keys[N] extends Kind<infer T> ? T : never;
};

/** An inline table of TOML, or an object of JSON, as the text of a variable. */
function tableOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      const { value } = getStaticTOMLValue(parseTOML(`value = ${text.trim()}`)) as { readonly value?: unknown };
      return value;
    } catch {
      return undefined;
    }
  }
}

/** An address, or a table. The table's keys are in camel case afterwards. */
export const sidecarValue: Kind<string | InProcessTable> = {
  description: "an address, or a table with `run` and `url`",
  read(value) {
    if (typeof value === "string") return value;
    if (!isTable(value)) return undefined;
    const camel = Object.entries(value).map(([key, each]) => [Object.hasOwn(keys, key) ? camelCase(key) : key, each]);
    return Object.fromEntries(camel) as InProcessTable;
  },
  fromText: (given) => (/^\s*\{/.test(given) ? sidecarValue.read(tableOf(given)) : given),
  show: (value) => JSON.stringify(value),
  schema: {
    anyOf: [
      { type: "string", ...sidecarRule },
      {
        type: "object",
        additionalProperties: false,
        required: ["run"],
        properties: Object.fromEntries(Object.entries(keys).map(([key, { schema }]) => [key, schema])),
      },
    ],
  },
};

/** Returns the reason why a value of `[sidecars]` is refused. It may be a password, so it is not repeated. */
export function sidecarValueProblem(value: string | InProcessTable): string | undefined {
  if (typeof value === "string") return sidecarProblem(value);
  const problem = inProcessProblem(value, (key) => key);
  if (problem !== undefined) return problem;
  const { url, urlFile } = value;
  if ((url === undefined) === (urlFile === undefined))
    return 'must have either `url` or `url_file`, such as url = "env:DATABASE_URL"';
  if (url !== undefined && hasPassword(url))
    return 'has a password in `url`, where it does not belong: write url = "env:NAME", or `url_file` with the path of a file';
  return undefined;
}

/**
 * Returns the reason why an object is not a sidecar in the server's process.
 *
 * @param value with keys in camel case
 * @param shown returns the name of a key, in the spelling of `tenon.toml`, for the problem
 */
export function inProcessProblem(
  value: Readonly<Record<string, unknown>>,
  shown: (key: string) => string,
): string | undefined {
  const names = Object.keys(keys) as (keyof Keys)[];
  const { run } = value;
  if (keys.run.read(run) === undefined) return `needs \`run\`, which must be ${keys.run.description}`;
  for (const [name, each] of Object.entries(value)) {
    const key = names.find((known) => camelCase(known) === name);
    if (key === undefined) {
      const near = nearest(name, names.map(shown));
      return `has the unknown key \`${name}\`; ${near === undefined ? `known are ${names.map(shown).join(", ")}` : `did you mean \`${near}\`?`}`;
    }
    if (each === undefined) continue;
    if (key in sidecarOptions && !hasOption(run as SidecarKind, key as SidecarOptionKey))
      return `has the key \`${shown(key)}\`, which is for ${sidecarOption(key as SidecarOptionKey).kinds?.join(", ")} alone`;
    if (keys[key].read(each) === undefined) return `needs \`${shown(key)}\` to be ${keys[key].description}`;
  }
  return undefined;
}
