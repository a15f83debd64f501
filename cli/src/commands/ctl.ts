import { resolve } from "node:path";
import type { Command } from "commander";
import type { SentBudget } from "../admin/budgets.ts";
import { ask, detailOf } from "../ask.ts";
import { TenonError } from "../errors.ts";
import { isReference } from "../oci/reference.ts";
import { type CommonOptions, terminalFor, withCommonOptions } from "../options.ts";
import { defaultConfig } from "../project/config.ts";
import { findProject } from "../project/project.ts";
import type { LiveModule } from "../serve/live.ts";
import { helpCommand } from "./help.ts";

interface Options extends CommonOptions {
  readonly socket?: string;
  readonly json?: boolean;
}

/** A change compiles the new version first. */
const CHANGE_MS = 10 * 60 * 1000;

/** `tenon ctl`: ask a running `tenon run` over its admin socket. */
export function ctlCommand(program: Command): void {
  const ctl = program
    .command("ctl")
    .summary("control a server that runs")
    .description("Controls a `tenon run` on this machine over the Unix socket that server.admin names.");
  const modules = ctl.command("modules").summary("list modules and change their sources");
  modules.description("Lists the modules of a server, and changes their sources without a dropped request.");
  add(modules.command("list").summary("list the modules"), "Lists the modules, their states and their sources.").action(
    list,
  );
  add(
    modules
      .command("set")
      .summary("serve a module from another source")
      .argument("<module>", "the module's name")
      .argument("<source>", "a reference such as oci://registry/shop:1.0, or a component file"),
    "Loads another version of a module, and puts it in the place of the one that serves. A version that cannot be served " +
      "changes nothing. It holds until the server ends, or until the module's source in tenon.toml changes.",
  ).action(set);
  add(
    ctl.command("budgets").summary("list what is left of the modules' budgets"),
    "Lists the amount that is left of each part of each module's budget, and the time until the part is whole again.",
  ).action(budgets);
  add(
    modules
      .command("rollback")
      .summary("serve a module from its former source")
      .argument("<module>", "the module's name"),
    "Puts the former version of a module back.",
  ).action(rollback);
  helpCommand(modules);
  helpCommand(ctl);
}

async function budgets(options: Options): Promise<void> {
  const { budgets } = (await askServer(options, "GET", "/budgets")) as { budgets: readonly SentBudget[] };
  if (options.json) return print(budgets);
  for (const { module, parts } of budgets) {
    for (const { part, amount, remaining, resets_in_ms: left } of parts) {
      const unit = units[part];
      const seconds = Math.ceil(left / 1000);
      process.stdout.write(`${module}\t${part}\t${remaining} of ${amount}${unit}\t${seconds} s\n`);
    }
  }
}

const units = { cpu: " µs", calls: "", bytes_out: " B", memory: " B s" } as const;

function add(command: Command, description: string): Command {
  command
    .description(description)
    .option("--socket <address>", "the server's admin socket; server.admin of tenon.toml when left out")
    .option("--json", "print the result as one line of JSON");
  return withCommonOptions(command);
}

async function list(options: Options): Promise<void> {
  const { modules } = (await askServer(options, "GET", "/modules")) as { modules: readonly LiveModule[] };
  if (options.json) return print(modules);
  for (const { name, state, source } of modules) process.stdout.write(`${name}\t${state}\t${source}\n`);
}

async function set(name: string, source: string, options: Options): Promise<void> {
  const absolute = isReference(source) ? source : resolve(source);
  const answer = await askServer(options, "PUT", `/modules/${encodeURIComponent(name)}`, { source: absolute });
  tell(answer as { name: string; source: string }, options);
}

async function rollback(name: string, options: Options): Promise<void> {
  const answer = await askServer(options, "POST", `/modules/${encodeURIComponent(name)}/rollback`);
  tell(answer as { name: string; source: string }, options);
}

function tell(answer: { readonly name: string; readonly source: string }, options: Options): void {
  terminalFor(options).note("Serve", `${answer.name} from ${answer.source}`);
  if (options.json) print(answer);
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

async function askServer(
  options: Options,
  method: "GET" | "PUT" | "POST",
  path: string,
  json?: object,
): Promise<unknown> {
  const address = options.socket ?? (await configured());
  const reply = await ask({
    address,
    method,
    path,
    timeoutMs: CHANGE_MS,
    ...(json === undefined ? {} : { json }),
  }).catch((error: unknown) => {
    if (error instanceof TenonError) throw error;
    throw new TenonError("REQUEST", `no server answers at ${address}: ${(error as Error).message}`);
  });
  if (reply.status !== 200) throw new TenonError("REQUEST", detailOf(reply));
  return JSON.parse(reply.text);
}

async function configured(): Promise<string> {
  const project = await findProject(process.cwd());
  const { admin } = (project?.config ?? defaultConfig(process.env)).server;
  if (admin !== undefined) return admin;
  throw new TenonError(
    "USAGE",
    "there is no admin socket",
    'write admin = "unix:///run/tenon/admin.sock" below [server] in tenon.toml, or give --socket',
  );
}
