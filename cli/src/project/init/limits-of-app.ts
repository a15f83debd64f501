/** Finds the parts of an app that will not work in a component, by its imports and its files. */
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, relative } from "node:path";
import { parseEnv } from "node:util";
import type { Source } from "./sources.ts";

/** Modules of Node that a component has; `docs/packages.md` lists them. */
const served =
  /^(?:assert|async_hooks|buffer|crypto|diagnostics_channel|events|path|perf_hooks|process|punycode|querystring|stream|string_decoder|sys|timers|url|util)(?:\/|$)/;

const orms =
  '@tenon/sdk/drizzle, @tenon/sdk/kysely or `db` of @tenon/sdk, over a sidecar: [sidecars] db = { run = "sql", url = "env:DATABASE_URL" }';

/** Packages that need what a component lacks, and what takes their place. */
const packages: readonly (readonly [name: RegExp, problem: string])[] = [
  [
    /^@hono\/node-server$/,
    "starts a server of Node, so the build fails: move the app into a module of its own, and import that one in src/handler.ts",
  ],
  [
    /^(?:express|fastify|koa|@hapi\/hapi|restify|polka|@nestjs\/core)$/,
    "is a server of Node; only apps that speak fetch run in a component (docs/embedding.md has recipes for serving modules beside it)",
  ],
  [
    /^(?:pg|postgres|@neondatabase\/serverless|mysql2?|mysql2\/promise|mariadb|better-sqlite3|sqlite3|@libsql\/client|node:sqlite|bun:sqlite)$/,
    `opens a database, which a component cannot: use ${orms}`,
  ],
  [
    /^(?:@prisma\/client|typeorm|sequelize|mikro-orm|@mikro-orm\/.+|mongoose|mongodb)$/,
    `needs sockets or native code, which a component lacks: use ${orms}`,
  ],
  [
    /^drizzle-orm\/(?!pg-core|sqlite-core|mysql-core|pg-proxy|sqlite-proxy|sql|relations|utils|expressions|column)/,
    "opens a database, which a component cannot: use drizzle() of @tenon/sdk/drizzle",
  ],
  [
    /^(?:redis|ioredis)$/,
    'opens a socket: use `cache` of @tenon/sdk, over a sidecar: [sidecars] cache = { run = "kv", url = "env:REDIS_URL" }',
  ],
  [
    /^@aws-sdk\/client-s3$/,
    "works with fetch where its credentials are secrets; `storage` of @tenon/sdk keeps them out of the module",
  ],
  [
    /^(?:ws|socket\.io|hono\/(?:bun|deno|cloudflare-workers)|@hono\/node-ws)$/,
    "is for another host; a component has no WebSockets, and serves no files of a folder",
  ],
  [/^(?:bcrypt|argon2|sharp|canvas|node-gyp-build)$/, "is native code: for passwords use @tenon/sdk/password"],
  [
    /^(?:amqplib|kafkajs|bullmq|nodemailer|nats)$/,
    "opens a socket: use `queue` of @tenon/sdk, or a sidecar of your own over HTTP",
  ],
  [/^cloudflare:/, "is a module of Cloudflare Workers"],
];

/** Packages over which an app reaches its database: those that open one, and Tenon's in their place. */
const databases =
  /^(?:pg|postgres|better-sqlite3|sqlite3|node:sqlite|bun:sqlite|@prisma\/client|typeorm|sequelize|drizzle-orm|kysely|@tenon\/sdk\/(?:drizzle|kysely))(?:\/|$)/;

/** True when an import leads to a database. */
export const usesDatabase = (sources: readonly Source[]): boolean =>
  sources.some(({ imports }) => imports.some(({ specifier }) => databases.test(specifier)));

/** Returns the folder that drizzle-kit writes to, as a finding: its own `migrate` needs a driver. */
export function drizzleFolder(folder: string): Finding[] {
  const file = ["ts", "js", "mjs"].map((end) => `drizzle.config.${end}`).find((name) => existsSync(join(folder, name)));
  if (file === undefined) return [];
  const [, out = "drizzle"] = /\bout\s*:\s*["']([^"']+)["']/.exec(readFileSync(join(folder, file), "utf8")) ?? [];
  const command = `tenon migrate --folder ${out.replace(/^\.\//, "")}`;
  return [
    { place: file, problem: `\`${command}\` applies the files of drizzle-kit; its migrate and push need a driver` },
  ];
}

/** A finding: its place, and what it means. */
export interface Finding {
  readonly place: string;
  readonly problem: string;
}

/** Returns what will not work, by the imports of sources. Type-only imports do not count. */
export function findingsIn(folder: string, sources: readonly Source[]): Finding[] {
  const builtins = new Set(builtinModules);
  return sources.flatMap(({ file, text, imports }) => {
    const place = (line: number) => `${relative(folder, file)}:${line}`;
    const found = imports.flatMap(({ specifier, line }): Finding[] => {
      const known = packages.find(([name]) => name.test(specifier));
      if (known !== undefined) return [{ place: place(line), problem: `${specifier} ${known[1]}` }];
      const name = specifier.replace(/^node:/, "");
      const isNode = specifier.startsWith("node:") || builtins.has(name);
      if (!isNode || served.test(name)) return [];
      return [{ place: place(line), problem: `"${specifier}" is a module of Node that a component cannot have` }];
    });
    const uses = (pattern: RegExp, problem: string): Finding[] => {
      const at = text.search(pattern);
      return at < 0 ? [] : [{ place: place(text.slice(0, at).split("\n").length), problem }];
    };
    return [
      ...found,
      ...uses(
        /\bWebSocketPair\b|\bupgradeWebSocket\b/,
        "there are no WebSockets in a component; use sse() or a stream",
      ),
      ...uses(/\bcaches\.(?:default|open)\b/, "there is no Cache API in a component; use `cache` of @tenon/sdk"),
      ...uses(
        /\bextends\s+(?:DurableObject|WorkflowEntrypoint)\b/,
        "there are no Durable Objects or Workflows; keep state in a sidecar",
      ),
    ];
  });
}

/** Sections of Wrangler's configuration, and what takes their place. */
const bindings: readonly (readonly [section: string, instead: string])[] = [
  ["kv_namespaces", "`cache` of @tenon/sdk, over a kv sidecar"],
  ["d1_databases", "`db` of @tenon/sdk, over a sql sidecar"],
  ["r2_buckets", "`storage` of @tenon/sdk, over a storage sidecar"],
  ["queues", "`queue` of @tenon/sdk, with [queues.<name>] in tenon.toml"],
  ["durable_objects", "a sidecar that keeps the state"],
  ["hyperdrive", "`db` of @tenon/sdk, over a sql sidecar"],
  ["vectorize", "a service over HTTP"],
  ["ai", "a service over HTTP"],
  ["services", "a module of its own, called by fetch"],
  ["assets", "a server of files in front; a component has none"],
  ["triggers", "[cron.<name>] in tenon.toml, which calls a route"],
];

/** Wrangler's configuration, as far as it is of use. */
export interface Wrangler {
  readonly file: string;
  readonly main?: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly sections: readonly string[];
}

/** Returns the bindings of a Worker that a component does not have. */
export function bindingsOf({ file, sections }: Wrangler): Finding[] {
  return bindings
    .filter(([section]) => sections.includes(section))
    .map(([section, instead]) => ({
      place: file,
      problem: `the bindings of ${section} are not in c.env: use ${instead}`,
    }));
}

/** Names of variables whose values are secrets. */
const SECRET = /SECRET|TOKEN|KEY|PASSW|CREDENTIAL|PRIVATE|DATABASE_URL|DSN|AUTH/i;

/**
 * The variables that files such as `.env` have. Those of examples, which everybody may read, are variables with these values, unless
 * they sound like secrets; all others are secrets, of which only the names are kept.
 */
export function variablesOfFiles(folder: string): {
  env: Record<string, string>;
  secrets: string[];
  /** The value of `DATABASE_URL`, if there is such a variable. */
  databaseUrl: string | undefined;
} {
  const examples = read(folder, ".env.example", ".env.sample", ".dev.vars.example");
  const env = Object.fromEntries(
    Object.entries(examples).filter(([name]) => !SECRET.test(name) && name !== "NODE_ENV"),
  );
  const all = { ...examples, ...read(folder, ".dev.vars", ".env") };
  return {
    env,
    secrets: Object.keys(all).filter((name) => env[name] === undefined && name !== "NODE_ENV" && name !== "PORT"),
    databaseUrl: all["DATABASE_URL"],
  };
}

function read(folder: string, ...files: string[]): Record<string, string> {
  const found = files.map((file) => join(folder, file)).filter((file) => existsSync(file));
  const variables = found.flatMap((file) => Object.entries(parseEnv(readFileSync(file, "utf8"))));
  const plain = variables.map(([name, value]): [string, string] => [
    name.replace(/^\s*(?:export\s+)?/, ""),
    value ?? "",
  ]);
  return Object.fromEntries(plain.filter(([name]) => /^[A-Za-z_]\w*$/.test(name)));
}
