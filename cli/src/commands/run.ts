import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { Command } from "commander";
import { exitCode, TenonError } from "../errors.ts";
import { type CommonOptions, parsePort, terminalFor, withCommonOptions } from "../options.ts";
import { defaultServer, type ServerConfig } from "../project/config.ts";
import { dependencies, findProject, type Project } from "../project/project.ts";
import { Runtime } from "../runtime.ts";
import type { Terminal } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly json?: boolean;
}

/** `tenon run`: serve components in the foreground until a signal. */
export function runCommand(program: Command): void {
  const command = program
    .command("run")
    .summary("serve components")
    .description(
      "Serves components under /run/<module>/ until it is interrupted. Without arguments it serves what `tenon build` " +
        "wrote in this project; the components in the project's modules/ are served too.",
    )
    .argument("[component...]", "component files")
    .option("-p, --port <number>", "port to listen on; 0 takes a free one", parsePort)
    .option("--host <host>", "address to listen on")
    .option("--json", "print where it serves what as one line of JSON");
  withCommonOptions(command).action(async (components: string[], options: Options) => {
    const terminal = terminalFor(options);
    const project = await findProject(process.cwd());
    const modules = await modulesToServe(components, project);
    const server: ServerConfig = project?.config.server ?? defaultServer;
    const runtime = await load(modules, project, server, options, terminal);
    const { url } = await runtime.listen({ host: options.host ?? server.host, port: options.port ?? server.port });
    announce(url, runtime.modules, options, terminal);
    await untilSignalled(runtime, terminal);
  });
}

async function modulesToServe(components: readonly string[], project: Project | undefined): Promise<string[]> {
  const more = project === undefined ? [] : await dependencies(project);
  if (components.length > 0) return [...components.map((file) => resolve(file)), ...more];
  if (project === undefined) {
    throw new TenonError(
      "NO_PROJECT",
      "there is no component to serve",
      "name one: tenon run <file>.wasm, or go to a project's folder",
    );
  }
  // The bare component is what the composed one has inside; this runtime needs no bridge to call it.
  const own = [project.component, project.composed].find((file) => existsSync(file));
  if (own === undefined) {
    throw new TenonError(
      "NOT_BUILT",
      `${relative(process.cwd(), project.component)} is not built yet`,
      "run `tenon build` first",
    );
  }
  return [own, ...more];
}

async function load(
  modules: readonly string[],
  project: Project | undefined,
  { host: _host, port: _port, ...limits }: ServerConfig,
  options: Options,
  terminal: Terminal,
): Promise<Runtime> {
  const names = modules.map((file) => relative(process.cwd(), file)).join(", ");
  const create = () =>
    Runtime.create({
      ...limits,
      modules,
      sidecars: project?.config.sidecars ?? {},
      env: project?.config.env ?? {},
      logLevel: options.quiet ? "error" : options.verbose ? "debug" : "info",
    });
  return terminal.step("Load", names, create);
}

function announce(url: string, modules: readonly string[], options: Options, terminal: Terminal): void {
  const urls = modules.map((name) => `${url}/run/${name}/`);
  for (const each of urls) terminal.say(`${terminal.bold("Serve".padStart(12))} ${each}`);
  if (options.json) process.stdout.write(`${JSON.stringify({ url, modules: [...modules], urls })}\n`);
}

/** Ends on SIGTERM with 0, on Ctrl-C with 130; a second Ctrl-C does not wait for running requests. */
async function untilSignalled(runtime: Runtime, terminal: Terminal): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((done) => {
    // A timer keeps the process alive: the addon's server does not.
    const alive = setInterval(() => {}, 2 ** 30);
    const stop = (name: NodeJS.Signals) => {
      clearInterval(alive);
      done(name);
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
    process.once("SIGHUP", stop);
  });
  process.exitCode = signal === "SIGTERM" ? exitCode.done : exitCode.interrupted;
  process.once("SIGINT", () => process.exit(exitCode.interrupted));
  terminal.say(`${terminal.bold("Stop".padStart(12))} after running requests; Ctrl-C again stops at once`);
  await runtime.close();
  process.exit();
}
