import { type Command, InvalidArgumentError, Option } from "commander";
import { Sidecar, type SidecarOptions } from "../embed/sidecar.ts";
import {
  hasOption,
  type SidecarKind,
  type SidecarOptionKey,
  sidecarKind,
  sidecarKindNames,
  sidecarOption,
  sidecarOptionKeys,
  sidecarOptions,
} from "../embed/sidecar-kinds.ts";
import { TenonError } from "../errors.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";
import { hasPassword } from "../project/config/addresses.ts";
import { camelCase } from "../project/config/key.ts";
import { helpCommand } from "./help.ts";
import { addHealth } from "./sidecar-health.ts";
import { addHttp } from "./sidecar-http.ts";
import {
  INSECURE,
  logFormatOf,
  logLevelOf,
  positive,
  type ServerOptions,
  secretFile,
  serveSidecar,
  TOKEN_VARIABLE,
  tokenFrom,
  withServerOptions,
} from "./sidecar-options.ts";

interface Options extends CommonOptions, ServerOptions {
  readonly listen: string;
  readonly url?: string;
  readonly urlFile?: string;
  readonly tokenFile?: string;
  readonly insecure?: boolean;
  readonly json?: boolean;
}

/** `tenon sidecar <kind>`: serve one kind of store to modules, in the foreground until a signal. */
export function sidecarCommand(program: Command): void {
  const sidecar = program
    .command("sidecar")
    .summary("serve a database, a cache or a store to modules")
    .description(
      "Serves one store over the HTTP contract of the development services. It holds the credentials, so that modules " +
        "need none; they come from the environment or a file, never from the command line.",
    );
  for (const kind of sidecarKindNames) addKind(sidecar, kind);
  addHttp(sidecar);
  addHealth(sidecar);
  helpCommand(sidecar);
}

function addKind(sidecar: Command, kind: SidecarKind): void {
  const { summary, variable, example } = sidecarKind(kind);
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
    .option("--token-file <file>", "file with the bearer token that requests must have")
    .option("--insecure", INSECURE);
  const options = sidecarOptionKeys.filter((key) => hasOption(kind, key)).map((key) => [key, optionOf(key)] as const);
  for (const [, option] of options) command.addOption(option);
  command.option("--json", "print where it listens as one line of JSON");
  withCommonOptions(withServerOptions(command)).action((given: Options) => {
    const values = given as unknown as Readonly<Record<string, unknown>>;
    const named = options.map(([key, option]) => [camelCase(key), values[option.attributeName()]] as const);
    return serve(kind, given, Object.fromEntries(named.filter(([, value]) => value !== undefined)));
  });
}

/** The parsers of options whose values are neither numbers nor plain texts. */
const parsers: { readonly [K in SidecarOptionKey]?: (text: string) => unknown } = { role, tables: list };

function optionOf(key: SidecarOptionKey): Option {
  const { flags, description } = sidecarOption(key);
  const option = new Option(flags, description);
  const parser = parsers[key] ?? (sidecarOptions[key].value.schema["type"] === "integer" ? positive : undefined);
  return parser === undefined ? option : option.argParser(parser);
}

async function serve(kind: SidecarKind, options: Options, more: Partial<SidecarOptions>): Promise<void> {
  const token = tokenFrom(options);
  const started = Sidecar.start({
    ...more,
    kind,
    url: urlFrom(kind, options),
    listen: options.listen,
    logFormat: logFormatOf(options),
    logLevel: logLevelOf(options),
    insecure: options.insecure === true,
    ...(token === undefined ? {} : { token }),
  });
  await serveSidecar(kind, kind, started, options);
}

/** The store's URL. A password on a command line is seen by every user of the machine, and so is refused. */
function urlFrom(kind: SidecarKind, { url, urlFile }: Options): string {
  const { variable, example } = sidecarKind(kind);
  if (url !== undefined && urlFile !== undefined) {
    throw new TenonError("USAGE", "give --url or --url-file, not both");
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
      "no store is named",
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
  if (text.toLowerCase() === "none") throw new InvalidArgumentError("`none` is not a role.");
  return text;
}
