import { join, relative } from "node:path";
import type { Command } from "commander";
import type { Admin } from "../admin/server.ts";
import { pathOf } from "../embed/module-source.ts";
import { Runtime } from "../embed/runtime.ts";
import type { Listening } from "../embed/runtime-state.ts";
import { exitCode, failureToTell } from "../errors.ts";
import { Lifecycle, stopping } from "../lifecycle.ts";
import { native } from "../native.ts";
import { formatReference, parseReference } from "../oci/reference.ts";
import { type CommonOptions, parseHost, parsePort, suggestPort, terminalFor, withCommonOptions } from "../options.ts";
import { hostAndPort } from "../project/config/addresses.ts";
import { mountsOf, type Pull } from "../project/modules.ts";
import { configFile } from "../project/project.ts";
import { lacksRecordFolder } from "../project/serving.ts";
import { Reloading } from "../reloading.ts";
import { type Configuration, readConfiguration } from "../serve/configuration.ts";
import { Live } from "../serve/live.ts";
import { Terminal } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly json?: boolean;
  readonly plainHttp?: boolean;
  readonly trustCompiled?: boolean;
  readonly verifyKey?: string;
}

/** `tenon run`: serve components in the foreground until a signal. */
export function runCommand(program: Command): void {
  const command = program
    .command("run")
    .summary("serve components")
    .description(
      "Serves components under /run/<module>/ until it is interrupted. Without arguments it serves what `tenon build` " +
        "wrote in this project, and the components in the project's modules/. A component is a file, or the name of one " +
        "of these.",
    )
    .argument(
      "[component...]",
      "component files, references such as oci://registry/shop:1.0, or names of the project's modules",
    )
    .option("-p, --port <number>", "port to listen on; 0 takes a free one", parsePort)
    .option("--host <host>", "address to listen on", parseHost)
    .option("--plain-http", "reach registries by HTTP without TLS; those on this machine always are")
    .option("--verify-key <file>", "serve from registries only what this public key has signed")
    .option("--trust-compiled", "load machine code of `tenon compile` (.cwasm); use it for files of your own only")
    .option("--json", "print where it serves what as one line of JSON");
  withCommonOptions(command).action(async (named: string[], options: Options) => {
    const terminal = terminalFor(options);
    // The configuration may not be readable, and then that is a line, too.
    if (process.env["TENON_SERVER_LOG_FORMAT"] === "json") Terminal.useJson();
    // This process does nothing but serve, so its allocator need not keep memory for anything else.
    native().keepLittleMemory();
    const pull = puller(options, terminal);
    const state = await readConfiguration(named, pull);
    const lifecycle = new Lifecycle();
    const runtime = await lifecycle.starting(load(state, options, terminal));
    try {
      process.exitCode = await serve(runtime, { state, named, pull, options, lifecycle, terminal });
    } finally {
      // A runtime that listens keeps the process alive.
      await runtime.close();
    }
    process.exit();
  });
}

/** The parts that serving needs beside the runtime. */
interface Serving {
  readonly state: Configuration;
  readonly named: readonly string[];
  readonly pull: Pull;
  readonly options: Options;
  readonly lifecycle: Lifecycle;
  readonly terminal: Terminal;
}

/** Listens, and serves until a signal. Returns the exit code. */
async function serve(runtime: Runtime, serving: Serving): Promise<number> {
  const { state, named, pull, options, lifecycle, terminal } = serving;
  const { server } = state.config;
  if (server.metricsAddress !== undefined) {
    const { url } = await lifecycle.starting(listenForOperations(runtime, server.metricsAddress));
    terminal.note("Metrics", `${url}/metrics`);
  }
  const { url } = await lifecycle.starting(
    suggestPort(runtime.listen({ host: options.host ?? server.host, port: options.port ?? server.port })),
  );
  const pullQuietly = puller(options, undefined);
  const live = await lifecycle.starting(Live.start(state, { named, pull, pullQuietly, runtime, terminal }));
  let admin: Admin | undefined;
  try {
    if (server.admin !== undefined) admin = await lifecycle.starting(startAdmin(server.admin, live));
  } catch (error) {
    await live.close();
    throw error;
  }
  await announce(url, runtime, options, terminal);
  for (const mount of mountsOf(state.modules)) terminal.note("Mount", mount);
  if (admin !== undefined) terminal.note("Admin", admin.address);
  if (lacksRecordFolder(state.config)) terminal.note("Record", "nothing, because `record.folder` is not given");
  const { project } = state;
  let failure: string | undefined;
  const reloading = new Reloading(project && join(project.folder, configFile), async (isAsked) => {
    if (isAsked) await reload(live, runtime, terminal);
    else failure = await refresh(live, terminal, failure);
    reloading.every(live.refreshMs);
  });
  reloading.every(live.refreshMs);
  lifecycle.onHangUp(() => reloading.request());
  const code = await lifecycle.ended;
  reloading.close();
  const ending = [live.close(), admin?.close()];
  if (code === exitCode.done && server.drainMs > 0) {
    terminal.note("Drain", `for ${server.drainMs} ms, while /ready answers 503`);
    await runtime.drain();
  }
  terminal.note("Stop", stopping);
  await Promise.all(ending);
  return code;
}

async function reload(live: Live, runtime: Runtime, terminal: Terminal): Promise<void> {
  try {
    await live.reload();
  } catch (error) {
    runtime.noteFailedUpdate();
    tell(error, terminal);
    terminal.note("Reload", "failed: still serving the previous configuration");
  }
}

/**
 * Looks up tags. The registry may be down for a while, which does not affect the served modules: that is reported once.
 *
 * @param before the failure of the last time
 * @returns the failure; undefined when there is none
 */
async function refresh(live: Live, terminal: Terminal, before: string | undefined): Promise<string | undefined> {
  try {
    await live.refresh();
    return undefined;
  } catch (error) {
    const failure = String(error);
    if (failure !== before) {
      tell(error, terminal);
      terminal.note("Refresh", "failed: the former components go on serving");
    }
    return failure;
  }
}

function tell(error: unknown, terminal: Terminal): void {
  const told = failureToTell(error) ?? { message: String(error), hint: undefined };
  terminal.failure(told.message, told.hint);
}

function listenForOperations(runtime: Runtime, address: string): Promise<Listening> {
  const { host, port } = hostAndPort(address);
  return runtime.listen({ host, port, operations: true });
}

/** Imported when it is wanted: few servers have an admin socket. */
async function startAdmin(address: string, live: Live): Promise<Admin> {
  const { Admin } = await import("../admin/server.ts");
  return Admin.start(address, live);
}

/** Pulls components of references, and shows it where there is a terminal for it. */
function puller(options: Options, terminal: Terminal | undefined): Pull {
  return async (component, verifyKey) => {
    const { pullModule } = await import("../oci/pull.ts");
    // Parsed before it is shown, because an invalid reference may contain a password.
    const shown = formatReference(parseReference(component));
    const run = () =>
      pullModule(component, {
        plainHttp: options.plainHttp === true,
        verifyKey: options.verifyKey ?? verifyKey,
        warn: terminal && ((message) => terminal.say(`warning: ${message}`)),
      });
    const { path } =
      terminal === undefined ? await run() : await terminal.step("Pull", shown, run, ({ digest }) => `(${digest})`);
    return path;
  };
}

async function load({ modules, serving }: Configuration, options: Options, terminal: Terminal): Promise<Runtime> {
  const files = Object.values(modules).map((module) => (typeof module === "string" ? module : pathOf(module.source)));
  const names = files.map((file) => relative(process.cwd(), file)).join(", ");
  const create = () =>
    Runtime.create({
      ...serving,
      modules,
      ...(options.trustCompiled ? { trustCompiled: true } : {}),
      logLevel: options.quiet ? "error" : options.verbose ? "debug" : "info",
    });
  return terminal.step("Load", names, create);
}

/** Reports where modules are served. The log has the reason for one that could not be loaded. */
async function announce(url: string, runtime: Runtime, options: Options, terminal: Terminal): Promise<void> {
  const health = await runtime.fetch(new Request(`${url}/health`));
  const { modules: states } = (await health.json()) as { modules: Readonly<Record<string, string>> };
  const modules = runtime.modules.filter((name) => states[name] === "ready");
  const urls = modules.map((name) => `${url}/run/${name}/`);
  for (const each of urls) terminal.note("Serve", each);
  if (options.json) process.stdout.write(`${JSON.stringify({ url, modules, urls })}\n`);
}
