import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { TenonError } from "../errors.ts";
import { type CommonOptions, withCommonOptions } from "../options.ts";

interface Options extends CommonOptions {
  readonly project?: string;
  readonly url?: string;
  readonly header: readonly (readonly [string, string])[];
}

/** `tenon mcp`: a project's tools for a client that starts programs. */
export function mcpCommand(program: Command): void {
  const command = program
    .command("mcp")
    .summary("serve an app's tools on standard input and output")
    .description(
      "Serves the tools of an app with the option `mcp` to a client that starts programs: one message of the Model " +
        "Context Protocol a line on standard input, and the answers on standard output. It builds the project, and runs it in this process.",
    )
    .option("-C, --project <folder>", "the project's folder; the working directory by default")
    .option(
      "--url <url>",
      "pass the messages on to this server instead, such as http://127.0.0.1:3000/run/shop/mcp",
      parseUrl,
    )
    .option(
      "-H, --header <name: value>",
      "a header of each request, such as 'authorization: env:API_TOKEN'; env: takes a variable's value",
      (text: string, before: readonly (readonly [string, string])[]) => [...before, parseHeader(text)],
      [] as readonly (readonly [string, string])[],
    );
  withCommonOptions(command).action(async (options: Options) => {
    const { serveStdio } = await import("../mcp/stdio.ts");
    const write = (line: string) => void process.stdout.write(`${line}\n`);
    const headers = options.header.map(([name, value]) => [name, headerValue(value)] as const);
    if (options.url !== undefined) {
      const url = options.url;
      await serveStdio(process.stdin, write, { url, headers, fetch: (request) => fetch(request) });
      return;
    }
    process.chdir(resolve(options.project ?? "."));
    const { startApp } = await import("../mcp/app.ts");
    const app = await startApp(options.verbose === true);
    try {
      await serveStdio(process.stdin, write, { ...app, headers });
    } finally {
      await app.close();
    }
    process.exit();
  });
}

function parseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError("It must be an http or https URL.");
  return text;
}

function parseHeader(text: string): readonly [string, string] {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*:\s*(\S.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError("It must be a name, a colon and a value.");
  return [name, value];
}

/** The value of a header; credentials are better in a variable than in a list of arguments. */
function headerValue(value: string): string {
  const [, name] = /^(?:Bearer )?env:(\w+)$/.exec(value) ?? [];
  if (name === undefined) return value;
  const found = process.env[name];
  if (found === undefined) throw new TenonError("CONFIG", `the variable ${name} of --header is not set`);
  return value.replace(`env:${name}`, found);
}
