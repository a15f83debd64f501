import { type Command, InvalidArgumentError, Option } from "commander";
import { TenonError } from "../errors.ts";
import { Lifecycle } from "../lifecycle.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { hasPassword } from "../project/config/addresses.ts";
import { Sidecar, type SidecarKind } from "../sidecar.ts";
import { helpCommand } from "./help.ts";
import { addHealth } from "./sidecar-health.ts";
import { addHttp } from "./sidecar-http.ts";
import {
  endOf,
  logFormatOf,
  positive,
  type ServerOptions,
  secretFile,
  TOKEN_VARIABLE,
  tokenFrom,
  withServerOptions,
} from "./sidecar-options.ts";

interface Options extends CommonOptions, ServerOptions {
  readonly listen: string;
  readonly url?: string;
  readonly urlFile?: string;
  readonly tokenFile?: string;
  readonly readOnly?: boolean;
  readonly tables?: readonly string[];
  readonly role?: string;
  readonly prefix?: string;
  readonly publicUrl?: string;
  readonly poolSize?: number;
  readonly statementTimeout?: number;
  readonly transactionIdle?: number;
  readonly transactionTimeout?: number;
  readonly maxRows?: number;
  readonly maxBody?: number;
  readonly json?: boolean;
}

/** What a kind is, where its URL may come from, and what such a URL looks like. */
const kinds = {
  sql: { summary: "SQL from PostgreSQL or SQLite", variable: "DATABASE_URL", example: "sqlite:/path/to/file.db" },
  kv: {
    summary: "keys from Redis or SQLite",
    variable: "REDIS_URL",
    example: "redis://127.0.0.1:6379/0, rediss://… or sqlite:/path/to/file.db",
  },
  queue: { summary: "queues in PostgreSQL or SQLite", variable: "DATABASE_URL", example: "sqlite:/path/to/file.db" },
  cron: { summary: "cron jobs in PostgreSQL or SQLite", variable: "DATABASE_URL", example: "sqlite:/path/to/file.db" },
  storage: { summary: "objects from S3 or a folder", variable: "STORAGE_URL", example: "s3://bucket or file:/path" },
} as const satisfies Record<SidecarKind, { summary: string; variable: string; example: string }>;

/** `tenon sidecar sql|kv|storage|queue|cron`: serve one kind of store to modules, in the foreground until a signal. */
export function sidecarCommand(program: Command): void {
  const sidecar = program
    .command("sidecar")
    .summary("serve a database, a cache or a store to modules")
    .description(
      "Serves one store over the HTTP contract of the development services. It holds the credentials, so that modules " +
        "need none; they come from the environment or a file, never from the command line.",
    );
  for (const kind of Object.keys(kinds) as SidecarKind[]) addKind(sidecar, kind);
  addHttp(sidecar);
  addHealth(sidecar);
  helpCommand(sidecar);
}

function addKind(sidecar: Command, kind: SidecarKind): void {
  const { summary, variable, example } = kinds[kind];
  const command = sidecar
    .command(kind)
    .summary(`serve ${summary}`)
    .description(
      `Serves ${summary}. The store is named by --url-file, by the variable ${variable}, or, when it has no password, by ` +
        `--url. With a bearer token, in --token-file or the variable ${TOKEN_VARIABLE}, every request must have it.`,
    )
    .requiredOption("--listen <address>", "where to listen: unix:///run/name.sock or 127.0.0.1:port")
    .option("--url <url>", `the store, when its URL has no password: ${example}`)
    .option("--url-file <file>", "file with the store's URL")
    .option("--token-file <file>", "file with the bearer token that requests must have");
  if (kind === "sql") {
    command
      .option("--read-only", "refuse statements that write")
      .addOption(new Option("--role <name>", "the role whose rights statements have (PostgreSQL)").argParser(role))
      .addOption(
        new Option("--tables <names>", "the only tables that statements may name, with commas").argParser(list),
      )
      .option("--pool-size <number>", "connections to the database", positive)
      .option("--statement-timeout <ms>", "milliseconds that a request's statements may take", positive)
      .option("--transaction-idle <ms>", "milliseconds between two statements of a transaction", positive)
      .option("--transaction-timeout <ms>", "milliseconds of a transaction in all", positive)
      .option("--max-rows <number>", "rows of one result", positive);
  }
  if (kind === "kv") command.option("--prefix <text>", "what every name in Redis begins with");
  if (kind === "storage") {
    command.option("--public-url <url>", "where clients reach a folder's sidecar, for the URLs that it signs");
  }
  command
    .option("--max-body <bytes>", "bytes of a request's body", positive)
    .option("--json", "print where it listens as one line of JSON");
  withCommonOptions(withServerOptions(command)).action((options: Options) => serve(kind, options));
}

async function serve(kind: SidecarKind, options: Options): Promise<void> {
  const terminal = terminalFor(options);
  const token = tokenFrom(options);
  const started = Sidecar.start({
    kind,
    url: urlFrom(kind, options),
    listen: options.listen,
    logFormat: logFormatOf(options),
    logLevel: options.quiet ? "error" : options.verbose ? "debug" : "info",
    ...given("token", token),
    ...given("readOnly", options.readOnly),
    ...given("tables", options.tables),
    ...given("role", options.role),
    ...given("prefix", options.prefix),
    ...given("publicUrl", options.publicUrl),
    ...given("poolSize", options.poolSize),
    ...given("statementTimeoutMs", options.statementTimeout),
    ...given("transactionIdleMs", options.transactionIdle),
    ...given("transactionTimeoutMs", options.transactionTimeout),
    ...given("maxRows", options.maxRows),
    ...given("maxBodyBytes", options.maxBody),
  });
  const lifecycle = new Lifecycle();
  const sidecar = await lifecycle.starting(started).catch(asUsage);
  terminal.note("Serve", `${kind} at ${sidecar.address}`);
  if (options.json) process.stdout.write(`${JSON.stringify({ kind, address: sidecar.address })}\n`);
  process.exitCode = await endOf(lifecycle, options, terminal);
  terminal.note("Stop", "after running requests; Ctrl-C again stops at once");
  await sidecar.close();
  process.exit();
}

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

/** An address to listen on, or a URL, that means nothing is wrong usage: no store was asked yet. */
function asUsage(error: unknown): never {
  if (error instanceof TenonError && error.code === "CONFIG") {
    throw new TenonError("USAGE", error.message, undefined, error);
  }
  throw error;
}

/** The store's URL. A password on a command line is seen by every user of the machine, and so is refused. */
function urlFrom(kind: SidecarKind, { url, urlFile }: Options): string {
  const { variable, example } = kinds[kind];
  if (url !== undefined && urlFile !== undefined) {
    throw new TenonError("USAGE", "--url and --url-file say the same thing", "give one of them");
  }
  if (url !== undefined) {
    if (hasPassword(url)) {
      throw new TenonError(
        "USAGE",
        "--url has a password, and command lines are seen by every user of the machine",
        `put the URL into a file and give --url-file, or into the variable ${variable}`,
      );
    }
    return url;
  }
  const found = urlFile === undefined ? process.env[variable] : secretFile(urlFile);
  if (found === undefined || found === "") {
    throw new TenonError(
      "USAGE",
      `which store to serve is not said`,
      `set ${variable}, or give --url-file with a file, or --url ${example}`,
    );
  }
  return found;
}

function list(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (!names.every((name) => /^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)?$/.test(name))) {
    throw new InvalidArgumentError("Name tables with commas between: users,app.orders.");
  }
  return names.map((name) => name.toLowerCase());
}

/** A role's name as it is in the database, case included. */
function role(text: string): string {
  if (!/^[A-Za-z_][\w$.@-]{0,62}$/.test(text)) throw new InvalidArgumentError("Give the name of a role.");
  if (text.toLowerCase() === "none") throw new InvalidArgumentError("`none` is no role.");
  return text;
}
