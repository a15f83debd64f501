/** A sidecar in the server's process, as a table in `[sidecars]` and as an option of `Runtime.create`. */
import { nearest } from "../../nearest.ts";
import { hasPassword, sidecarProblem, sidecarRule } from "./addresses.ts";
import { type CamelCase, camelCase } from "./key.ts";
import { flag, isTable, type Kind, oneOf, text, textList, wholeNumber } from "./kinds.ts";

/** The kinds of sidecar. */
export const sidecarKinds = ["sql", "kv", "storage", "queue", "cron"] as const;
export type SidecarKind = (typeof sidecarKinds)[number];

const ms = wholeNumber(1, 86_400_000);
const count = wholeNumber(1, 0xffff_ffff);

const keys = {
  run: oneOf(...sidecarKinds),
  url: text,
  url_file: text,
  read_only: flag,
  tables: textList,
  role: text,
  prefix: text,
  public_url: text,
  pool_size: wholeNumber(1, 1000),
  statement_timeout_ms: ms,
  transaction_idle_ms: ms,
  transaction_timeout_ms: ms,
  max_rows: count,
  max_body_bytes: count,
} as const;

type Keys = typeof keys;

/** The kinds of sidecar that have a key which not all have. */
const only: { readonly [N in keyof Keys]?: readonly SidecarKind[] } = {
  read_only: ["sql"],
  tables: ["sql"],
  role: ["sql"],
  prefix: ["kv"],
  public_url: ["storage"],
  statement_timeout_ms: ["sql"],
  transaction_idle_ms: ["sql"],
  transaction_timeout_ms: ["sql"],
  max_rows: ["sql"],
};

/** A sidecar in the server's process, as `tenon.toml` has it. */
export type InProcessTable = { readonly run: SidecarKind } & {
  readonly [N in Exclude<keyof Keys, "run"> as CamelCase<N>]?: Keys[N] extends Kind<infer T> ? T : never;
};

/** An address, or a table. The table's keys are in camel case afterwards. */
export const sidecarValue: Kind<string | InProcessTable> = {
  description: "an address, or a table with `run` and `url`",
  read(value) {
    if (typeof value === "string") return value;
    if (!isTable(value)) return undefined;
    const camel = Object.entries(value).map(([key, each]) => [Object.hasOwn(keys, key) ? camelCase(key) : key, each]);
    return Object.fromEntries(camel) as InProcessTable;
  },
  fromText: (given) => given,
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
    return 'needs one of `url` and `url_file`, such as url = "env:DATABASE_URL"';
  if (url !== undefined && hasPassword(url))
    return 'has a password in `url`, where it does not belong: write url = "env:NAME", or `url_file` with the path of a file';
  return undefined;
}

/**
 * Returns the reason why an object is no sidecar in the server's process.
 *
 * @param value with keys in camel case
 * @param shown what a key, in the spelling of `tenon.toml`, is called in the problem
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
    if (only[key]?.includes(run as SidecarKind) === false)
      return `has the key \`${shown(key)}\`, which is for ${only[key]?.join(", ")} alone`;
    if (keys[key].read(each) === undefined) return `needs \`${shown(key)}\` to be ${keys[key].description}`;
  }
  return undefined;
}
