/**
 * The kinds of sidecar and their options: the table of the command `tenon sidecar`, its help and completions, of `[sidecars]` in
 * tenon.toml, of the names in `tenon dev`, and of docs/sidecars.md. A new kind is an entry here and one in
 * `crates/services/src/kinds.rs`.
 */
import { flag, text, textList, wholeNumber } from "../project/config/kinds.ts";

/** A kind of sidecar. */
interface KindEntry {
  /** Names the service and its stores, in the help. */
  readonly summary: string;
  /** The variable that its URL may come from. */
  readonly variable: string;
  /** URLs of its stores, for the help. */
  readonly example: string;
  /** URLs of its stores, for the documentation. */
  readonly stores: string;
  /** Its name for modules in `tenon dev`; none where they do not call it. */
  readonly client?: string;
}

const redis = "redis://127.0.0.1:6379/0, rediss://…, redis+sentinel://…, redis+cluster://…";
const redisStores =
  "`redis://…`, `rediss://…`, `redis+unix:///path`, `redis+sentinel://host:26379,host2:26379/mymaster/0`, " +
  "`redis+cluster://host:6379,host2:6379`";

export const sidecarKinds = {
  sql: {
    summary: "SQL from PostgreSQL or SQLite",
    variable: "DATABASE_URL",
    example: "sqlite:/path/to/file.db",
    stores: "`postgres://…`; `sqlite:/path/to/file.db`",
    client: "db",
  },
  kv: {
    summary: "keys from Redis or SQLite",
    variable: "REDIS_URL",
    example: `${redis} or sqlite:/path/to/file.db`,
    stores: `${redisStores}; \`sqlite:/path/to/file.db\``,
    client: "cache",
  },
  storage: {
    summary: "objects from S3 or a folder",
    variable: "STORAGE_URL",
    example: "s3://bucket or file:/path",
    stores:
      "`s3://bucket`, with `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT`, " +
      "`AWS_ALLOW_HTTP`; `file:/path/to/folder`",
    client: "storage",
  },
  queue: {
    summary: "queues in PostgreSQL, Redis or SQLite",
    variable: "DATABASE_URL",
    example: `postgres://…, ${redis} or sqlite:/path/to/file.db`,
    stores: `\`postgres://…\`; ${redisStores}; \`sqlite:/path/to/file.db\``,
    client: "queue",
  },
  cron: {
    summary: "cron jobs in PostgreSQL or SQLite",
    variable: "DATABASE_URL",
    example: "sqlite:/path/to/file.db",
    stores: "`postgres://…`; `sqlite:/path/to/file.db`",
  },
} as const satisfies Record<string, KindEntry>;

export type SidecarKind = keyof typeof sidecarKinds;

/** The names of the kinds. */
export const sidecarKindNames = Object.keys(sidecarKinds) as [SidecarKind, ...SidecarKind[]];

/** The table's entry of a kind. */
export const sidecarKind = (kind: SidecarKind): KindEntry => sidecarKinds[kind];

/** An option of a sidecar. */
interface OptionEntry {
  /** The kinds that have it; all when left out. */
  readonly kinds?: readonly SidecarKind[];
  /** On the command line. */
  readonly flags: string;
  readonly description: string;
  /** In the documentation, after the flag. */
  readonly sample?: string;
  readonly effect: string;
  readonly default: string;
}

const ms = wholeNumber(1, 86_400_000);
const count = wholeNumber(1, 0xffff_ffff);

/** The options by their keys in tenon.toml. In `Sidecar.start` the keys are in camel case. */
export const sidecarOptions = {
  read_only: {
    value: flag,
    kinds: ["sql"],
    flags: "--read-only",
    description: "refuse statements that write",
    effect: "statements that write are refused by the database itself",
    default: "off",
  },
  role: {
    value: text,
    kinds: ["sql"],
    flags: "--role <name>",
    sample: " modules",
    description: "the role whose rights statements have (PostgreSQL)",
    effect: "PostgreSQL: gives statements the rights of this role, in place of those of the URL's user",
    default: "",
  },
  tables: {
    value: textList,
    kinds: ["sql"],
    flags: "--tables <names>",
    sample: " users,app.orders",
    description: "the only tables that statements may name, with commas",
    effect: "the only tables that statements may name",
    default: "all",
  },
  pool_size: {
    value: wholeNumber(1, 1000),
    kinds: ["sql", "queue", "cron"],
    flags: "--pool-size <number>",
    description: "connections to the database",
    effect: "connections to the database",
    default: "8",
  },
  statement_timeout_ms: {
    value: ms,
    kinds: ["sql"],
    flags: "--statement-timeout <ms>",
    description: "milliseconds that a request's statements may take",
    effect: "milliseconds for the statements of a request; 504 beyond",
    default: "10,000",
  },
  transaction_idle_ms: {
    value: ms,
    kinds: ["sql"],
    flags: "--transaction-idle <ms>",
    description: "milliseconds between two statements of a transaction",
    effect: "milliseconds between two statements of a transaction; it is rolled back beyond",
    default: "5,000",
  },
  transaction_timeout_ms: {
    value: ms,
    kinds: ["sql"],
    flags: "--transaction-timeout <ms>",
    description: "milliseconds of a transaction in all",
    effect: "milliseconds for a whole transaction; it is rolled back beyond",
    default: "30,000",
  },
  max_rows: {
    value: count,
    kinds: ["sql"],
    flags: "--max-rows <number>",
    description: "rows of one result",
    effect: "rows of one result",
    default: "10,000",
  },
  prefix: {
    value: text,
    kinds: ["kv", "queue"],
    flags: "--prefix <text>",
    description: "what every name in Redis begins with",
    effect: "the prefix of every name in Redis",
    default: "`tenon:`",
  },
  public_url: {
    value: text,
    kinds: ["storage"],
    flags: "--public-url <url>",
    sample: " https://files.example.com",
    description: "where clients reach a folder's sidecar, for the URLs that it signs",
    effect:
      "the base of the URLs that a folder's sidecar signs: where clients outside reach it. Needed behind a Unix socket",
    default: "the request's `Host`",
  },
  max_body_bytes: {
    value: count,
    flags: "--max-body <bytes>",
    description: "bytes of a request's body",
    effect: "bytes of a request's body; 413 beyond",
    default: "10 MiB",
  },
} as const satisfies Record<string, OptionEntry & { readonly value: object }>;

export type SidecarOptionKey = keyof typeof sidecarOptions;

/** The keys of the options. */
export const sidecarOptionKeys = Object.keys(sidecarOptions) as SidecarOptionKey[];

/** The table's entry of an option. */
export const sidecarOption = (key: SidecarOptionKey): OptionEntry => sidecarOptions[key];

/** Reports whether a kind has an option. */
export function hasOption(kind: SidecarKind, key: SidecarOptionKey): boolean {
  return sidecarOption(key).kinds?.includes(kind) ?? true;
}
