import { type Command, InvalidArgumentError, Option } from "commander";
import { HttpSidecar, httpSidecarDefaults } from "../embed/http-sidecar.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";
import {
  INSECURE,
  logFormatOf,
  logLevelOf,
  positive,
  type ServerOptions,
  serveSidecar,
  TOKEN_VARIABLE,
  tokenFrom,
  withServerOptions,
} from "./sidecar-options.ts";

interface Options extends CommonOptions, ServerOptions {
  readonly upstream: string;
  readonly listen: string;
  readonly headerFile?: Readonly<Record<string, string>>;
  readonly allow?: readonly string[];
  readonly forwardHeader?: readonly string[];
  readonly tokenFile?: string;
  readonly insecure?: boolean;
  readonly timeout: number;
  readonly retries: number;
  readonly rate?: number;
  readonly maxBody: number;
  readonly json?: boolean;
}

/** `tenon sidecar http`: pass requests of modules on to somebody else's API, with credentials that modules never see. */
export function addHttp(sidecar: Command): void {
  const command = sidecar
    .command("http")
    .summary("pass requests on to an API, with its credentials")
    .description(
      "Passes requests on to an API over HTTP, and adds the headers that it wants, from files. With --allow it passes on " +
        `nothing else. With a bearer token, in --token-file or the variable ${TOKEN_VARIABLE}, every request must have it.`,
    )
    .requiredOption("--upstream <url>", "the API: https://api.stripe.com")
    .option("--listen <address>", "where to listen: unix:///run/name.sock or 127.0.0.1:port", "127.0.0.1:0")
    .option("--header-file <name=path>", "a header and the file with its value; may be repeated", headerFile)
    .option("--allow <request>", 'what is passed on: "POST /v1/charges", "GET /v1/**"; may be repeated', repeated)
    .option(
      "--forward-header <name>",
      "a request header that is passed on with --allow, besides the usual ones; may be repeated",
      repeated,
    )
    .option("--token-file <file>", "file with the bearer token that requests must have")
    .option("--insecure", INSECURE)
    .option("--timeout <ms>", "milliseconds until an answer begins", positive, httpSidecarDefaults.timeoutMs)
    .addOption(
      new Option("--retries <number>", "attempts beyond the first, where a request may be repeated")
        .argParser(count)
        .default(httpSidecarDefaults.retries),
    )
    .option("--rate <number>", "requests a second, and as many at once", positive)
    .option(
      "--max-body <bytes>",
      "bytes of a request's body, and of an answer's",
      positive,
      httpSidecarDefaults.maxBodyBytes,
    )
    .option("--json", "print where it listens as one line of JSON");
  withCommonOptions(withServerOptions(command)).action(serve);
}

async function serve({ headerFile, allow, forwardHeader, rate, ...options }: Options): Promise<void> {
  const token = tokenFrom(options);
  const started = HttpSidecar.start({
    upstream: options.upstream,
    listen: options.listen,
    timeoutMs: options.timeout,
    retries: options.retries,
    maxBodyBytes: options.maxBody,
    insecure: options.insecure === true,
    logFormat: logFormatOf(options),
    logLevel: logLevelOf(options),
    ...(headerFile === undefined ? {} : { headerFiles: headerFile }),
    ...(allow === undefined ? {} : { allow }),
    ...(forwardHeader === undefined ? {} : { forwardHeaders: forwardHeader }),
    ...(rate === undefined ? {} : { rate }),
    ...(token === undefined ? {} : { token }),
  });
  await serveSidecar("http", options.upstream, started, options);
}

function headerFile(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1 || at === text.length - 1)
    throw new InvalidArgumentError("Write a name and a file: authorization=/run/secrets/key.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function repeated(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

function count(text: string): number {
  if (!/^[0-9]$/.test(text)) throw new InvalidArgumentError("Expected a number from 0 to 9.");
  return Number(text);
}
