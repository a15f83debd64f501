import { existsSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { type CronConsumer, consumeCron, cronServiceOf } from "../cron.ts";
import { failureToTell, TenonError } from "../errors.ts";
import { Lifecycle } from "../lifecycle.ts";
import { limits } from "../limits.ts";
import { nearest } from "../nearest.ts";
import { formatReference, isReference, parseReference } from "../oci/reference.ts";
import { type CommonOptions, parsePort, suggestPort, terminalFor, withCommonOptions } from "../options.ts";
import { camelCase } from "../project/config/key.ts";
import { sections } from "../project/config/keys.ts";
import { type Config, defaultConfig } from "../project/config.ts";
import { hasOnlySources, mountsOf, type NamedModules, namedModules, type Pull } from "../project/modules.ts";
import { configFile, dependencies, findProject, moduleName, type Project } from "../project/project.ts";
import { servingOptions } from "../project/serving.ts";
import { consumeQueues, type QueueConsumer, queueServiceOf } from "../queues.ts";
import { Reloading } from "../reloading.ts";
import { Runtime, type RuntimeOptions } from "../runtime.ts";
import { pathOf } from "../runtime-options.ts";
import type { SidecarService } from "../sidecar-service.ts";
import type { Terminal } from "../terminal.ts";

interface Options extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly json?: boolean;
  readonly plainHttp?: boolean;
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
    .option("--host <host>", "address to listen on")
    .option("--plain-http", "reach registries by HTTP without TLS; those on this machine always are")
    .option("--json", "print where it serves what as one line of JSON");
  withCommonOptions(command).action(async (named: string[], options: Options) => {
    const terminal = terminalFor(options);
    const pull = puller(options, terminal);
    let state = await configuration(named, pull);
    const { server } = state.config;
    const lifecycle = new Lifecycle();
    const runtime = await lifecycle.starting(load(state, options, terminal));
    const { url } = await lifecycle.starting(
      suggestPort(runtime.listen({ host: options.host ?? server.host, port: options.port ?? server.port })),
    );
    let consumers = consume(state, runtime, terminal);
    await announce(url, runtime, options, terminal);
    for (const mount of mountsOf(state.modules)) terminal.note("Mount", mount);
    const reload = async () => {
      const next = await configuration(named, pull);
      await runtime.update({ ...next.serving, modules: next.modules });
      const fixed = fixedKeys(state.config, next.config);
      if (work(next) !== work(state)) {
        await closeAll(consumers);
        consumers = consume(next, runtime, terminal);
      }
      state = next;
      terminal.note("Reload", `modules: ${runtime.modules.join(", ")}`);
      if (fixed.length > 0)
        terminal.note("Restart", `is needed for ${fixed.join(", ")}: until then they stay as they were`);
    };
    const { project } = state;
    const reloading = new Reloading(project && join(project.folder, configFile), () =>
      reload().catch((error: unknown) => {
        runtime.noteFailedUpdate();
        const told = failureToTell(error) ?? { message: String(error), hint: undefined };
        terminal.failure(told.message, told.hint);
        terminal.note("Reload", "failed: the former configuration goes on serving");
      }),
    );
    lifecycle.onHangUp(() => reloading.request());
    process.exitCode = await lifecycle.ended;
    reloading.close();
    terminal.note("Stop", "after running requests; Ctrl-C again stops at once");
    await closeAll(consumers);
    await runtime.close();
    process.exit();
  });
}

/** The state of the project's files, and what follows from it. */
interface Configuration {
  readonly project: Project | undefined;
  readonly config: Config;
  readonly modules: NamedModules;
  readonly serving: Omit<RuntimeOptions, "modules">;
  readonly queueService: SidecarService | undefined;
  readonly cronService: SidecarService | undefined;
}

/** Reads the configuration, and pulls what it names in registries. */
async function configuration(named: readonly string[], pull: Pull): Promise<Configuration> {
  const project = await findProject(process.cwd());
  const components = await pulled(named, pull);
  const { files, named: chosen } = await filesToServe(components, project);
  const modules = await namedModules(files, chosen, project, process.env, pull);
  const config = project?.config ?? defaultConfig(process.env);
  const serving = servingOptions(config, project?.folder ?? process.cwd());
  const [queueService, cronService] = [queueServiceOf(config, serving), cronServiceOf(config, serving)];
  return { project, config, modules, serving, queueService, cronService };
}

type Consumers = readonly (QueueConsumer | CronConsumer)[];

/** Starts the consumers of queues and of cron. */
function consume(
  { config, queueService, cronService }: Configuration,
  runtime: Runtime,
  terminal: Terminal,
): Consumers {
  return [
    ...consumeQueues(config, queueService, runtime, (message) => terminal.note("Queue", message)),
    ...consumeCron(config, cronService, runtime, (message) => terminal.note("Cron", message)),
  ];
}

async function closeAll(consumers: Consumers): Promise<void> {
  await Promise.all(consumers.map((consumer) => consumer.close()));
}

/** The part of a configuration that consumers work with. */
function work({ config: { project, queues, cron }, queueService, cronService }: Configuration): string {
  return JSON.stringify([project.name, queues, cron, queueService, cronService]);
}

/** The keys of `[server]` whose new values a server that runs cannot take over. */
function fixedKeys({ server: before }: Config, { server: after }: Config): string[] {
  const isOfModule = (key: string) =>
    key === "isolation" || (key in limits && limits[key as keyof typeof limits].ofModule);
  const keys = Object.keys(sections.server.keys).filter((key) => !isOfModule(key));
  const value = (server: Config["server"], key: string) =>
    JSON.stringify((server as Readonly<Record<string, unknown>>)[camelCase(key)]);
  return keys.filter((key) => value(before, key) !== value(after, key)).map((key) => `server.${key}`);
}

/** Pulls components of references, and shows it. */
function puller(options: Options, terminal: Terminal): Pull {
  return async (component) => {
    const { pullModule } = await import("../oci/pull.ts");
    // Read before it is shown, because what is no reference may hold a password.
    const shown = formatReference(parseReference(component));
    const { path } = await terminal.step(
      "Pull",
      shown,
      () => pullModule(component, { plainHttp: options.plainHttp === true }),
      ({ digest }) => `(${digest})`,
    );
    return path;
  };
}

/** Replaces each reference to a registry by the file that was pulled. */
async function pulled(components: readonly string[], pull: Pull): Promise<string[]> {
  const files: string[] = [];
  for (const component of components) files.push(isReference(component) ? await pull(component) : component);
  return files;
}

/** The components besides those that have a `source`, and those of them that the command names. */
async function filesToServe(
  components: readonly string[],
  project: Project | undefined,
): Promise<{ readonly files: readonly string[]; readonly named: readonly string[] }> {
  const more = project === undefined ? [] : await dependencies(project);
  if (components.length > 0) {
    const hasSource = (component: string) => project?.config.modules[component]?.source !== undefined;
    const named = components
      .filter((component) => !hasSource(component))
      .map((component) => fileOf(component, project, more));
    return { files: [...new Set([...named, ...more])], named };
  }
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
    if (hasOnlySources(project)) return { files: more, named: [] };
    throw new TenonError(
      "NOT_BUILT",
      `${relative(process.cwd(), project.component)} is not built yet`,
      "run `tenon build` first",
    );
  }
  return { files: [own, ...more], named: [] };
}

/** The file that is meant: the one of that path, or the project's module of that name. */
function fileOf(component: string, project: Project | undefined, others: readonly string[]): string {
  if (statSync(component, { throwIfNoEntry: false })?.isFile()) return resolve(component);
  if (component.endsWith(".wasm")) {
    throw new TenonError(
      "MODULE_READ",
      `cannot read ${component}: there is no such file`,
      "run `tenon build` in the project that makes it, or name another file",
    );
  }
  const own = project === undefined ? [] : [project.component, project.composed].filter((file) => existsSync(file));
  const known = [...own, ...others];
  const found = known.find((file) => moduleName(file) === component);
  if (found !== undefined) return found;
  const names = [...new Set(known.map(moduleName))];
  const near = nearest(component, names);
  throw new TenonError(
    "MODULE_READ",
    `there is no component ${component}: neither a file nor a module of the project`,
    near !== undefined
      ? `did you mean ${near}?`
      : names.length > 0
        ? `modules: ${names.join(", ")}`
        : "name a file that ends in .wasm, or run `tenon build` first",
  );
}

async function load({ modules, serving }: Configuration, options: Options, terminal: Terminal): Promise<Runtime> {
  const files = Object.values(modules).map((module) => (typeof module === "string" ? module : pathOf(module.source)));
  const names = files.map((file) => relative(process.cwd(), file)).join(", ");
  const create = () =>
    Runtime.create({
      ...serving,
      modules,
      logLevel: options.quiet ? "error" : options.verbose ? "debug" : "info",
    });
  return terminal.step("Load", names, create);
}

/** Says where modules are served. Of one that could not be loaded the log has said why. */
async function announce(url: string, runtime: Runtime, options: Options, terminal: Terminal): Promise<void> {
  const health = await runtime.fetch(new Request(`${url}/health`));
  const { modules: states } = (await health.json()) as { modules: Readonly<Record<string, string>> };
  const modules = runtime.modules.filter((name) => states[name] === "ready");
  const urls = modules.map((name) => `${url}/run/${name}/`);
  for (const each of urls) terminal.note("Serve", each);
  if (options.json) process.stdout.write(`${JSON.stringify({ url, modules, urls })}\n`);
}
