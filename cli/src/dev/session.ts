/** A run of `tenon dev`: builds, serves, watches, and reacts to keys. */
import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { prepareEngine } from "../build/engine.ts";
import { Consumers, declareJobs } from "../consumers.ts";
import { Services } from "../embed/services.ts";
import { sidecarKind, sidecarKindNames } from "../embed/sidecar-kinds.ts";
import { failureToTell, TenonError } from "../errors.ts";
import { Latest } from "../latest.ts";
import { sidecarVariable } from "../project/config/addresses.ts";
import type { Environment } from "../project/config/parse.ts";
import type { Config } from "../project/config.ts";
import { configFile, type Project, requireProject } from "../project/project.ts";
import { availableSecrets, environmentFile, withEnvironmentFile } from "../project/secrets.ts";
import { servingOptions } from "../project/serving.ts";
import { hasSidecar, tasksOf } from "../project/tasks.ts";
import { requireTls } from "../project/tls.ts";
import { fixedKeys } from "../serve/fixed-keys.ts";
import type { Terminal } from "../terminal.ts";
import { Builder, type Built } from "./builder.ts";
import { pendingMigrations } from "./migrations.ts";
import { listenNear, servicesPort } from "./ports.ts";
import type { DevRecording } from "./recording.ts";
import { recordingPath } from "./recording-page.ts";
import { othersRunning, RunningSign } from "./running.ts";
import { DevServer, docsPath, type Serving } from "./server.ts";
import { type Watching, watch } from "./watch.ts";

/** Options of `tenon dev`; `tenon.toml` has the defaults. */
export interface DevOptions {
  readonly host: string | undefined;
  /** The only acceptable port, if any. */
  readonly port: number | undefined;
  /** True when the development services start empty. */
  readonly fresh: boolean;
  /** The recording that each build is compared with. */
  readonly recording?: DevRecording;
}

/** Milliseconds after which a running top level is reported; usually it takes a few milliseconds. */
const longTopLevelMs = 2_000;

/** Minimum milliseconds of a build after the sources have changed; most builds end before. */
const supersededAfterMs = 1_000;

/**
 * A project that is served during development. Every change starts a new build, which replaces the last one without
 * dropping a request. A failed build is shown, and the last one stays. A change of `tenon.toml` is
 * applied to the running server. Only keys of `[server]` that a runtime cannot change need a new one.
 */
export class DevSession {
  #project: Project;
  readonly #options: DevOptions;
  readonly #terminal: Terminal;
  readonly #update = new Latest(() => this.#run());
  readonly #builder = new Builder();
  /** The running build. */
  #building: { readonly supersede: () => void; readonly end: () => void } | undefined;
  #pending = new Set<string>();
  #sign: RunningSign | undefined;
  #services: Services | undefined;
  #server: DevServer | undefined;
  #watching: Watching | undefined;
  #consumers: Consumers | undefined;
  /** The pending migrations that were reported last. */
  #mentioned = "";
  /** True when the newest configuration could not be served. */
  #isOutdated = false;
  /** The end of former servers. */
  #retired: Promise<unknown> = Promise.resolve();
  /** Number of builds so far, failed ones included. */
  #builds = 0;

  constructor(project: Project, options: DevOptions, terminal: Terminal) {
    this.#project = inScratch(project);
    this.#options = options;
    this.#terminal = terminal;
  }

  /** The module's URL. */
  get url(): string {
    return `${this.#server?.url}/run/${this.#project.config.project.name}/`;
  }

  /** The URL of the development services' page. */
  get servicesUrl(): string {
    return `${this.#services?.url}/`;
  }

  /** The URL of the page with the module's API. */
  get docsUrl(): string {
    return `${this.#server?.url}${docsPath}`;
  }

  /** The URL of the page with the recording; undefined without one. */
  get recordingUrl(): string | undefined {
    return this.#options.recording && `${this.#server?.url}${recordingPath}`;
  }

  /**
   * Listens, runs the first build, which may fail, and begins to watch.
   *
   * @throws TenonError when it cannot listen, or would delete files of another `tenon dev` of the project
   */
  async start(): Promise<void> {
    const folder = join(this.#project.folder, ".tenon", "services");
    const { fresh } = this.#options;
    // Before looking for others, so that two that start at once find each other.
    this.#sign = await RunningSign.up(this.#project.folder);
    if (fresh) await refuseBesideOthers(this.#project.folder);
    this.#services = await listenNear(servicesPort, (port) => Services.start({ folder, port, fresh }));
    await this.#sign.name(this.#services.url);
    const found = Number(new URL(this.#services.url).port);
    if (found !== servicesPort) {
      this.#terminal.note("Port", `${servicesPort} is taken by another program; the services are at ${found}`);
    }
    await this.#serve();
    this.#watching = await watch(this.#project, (paths) => this.changed(paths));
    await this.#mentionMigrations();
    await this.rebuild();
  }

  /** Reports migrations that were not applied, because requests fail without their tables. */
  async #mentionMigrations(): Promise<void> {
    const { config, folder } = this.#project;
    if (
      this.#services === undefined ||
      Object.keys(config.sidecars).some((name) => sidecarVariable(name) === sidecarVariable("db"))
    )
      return;
    const pending = await pendingMigrations(folder, this.#services.url);
    if (pending.length === 0 || pending.join() === this.#mentioned) return;
    this.#mentioned = pending.join();
    const [first, ...more] = pending;
    const shown = `${first}${more.length > 0 ? ` and ${more.length} more` : ""}`;
    this.#terminal.note("Migrations", `${shown} not applied yet; \`tenon migrate\` applies them`);
  }

  /** Builds after the running build, which is ended soon. */
  async rebuild(): Promise<void> {
    this.#building?.supersede();
    await this.#update.request();
  }

  /** Records changes and handles them. */
  changed(paths: readonly string[]): void {
    for (const path of paths) this.#pending.add(path);
    this.#terminal.detail(`${"Change".padStart(12)} ${paths.map((path) => this.#shown(path)).join(", ")}`);
    if (paths.some((path) => !this.#isDependency(path))) this.#building?.supersede();
    void this.#update.request();
  }

  /** Closes all parts, even if some fail, because an open one would keep the process alive. */
  async stop(): Promise<void> {
    const failures: unknown[] = [];
    this.#building?.end();
    for (const part of [this.#watching, this.#builder, this.#consumers, this.#server, this.#services, this.#sign]) {
      await part?.close().catch((error: unknown) => failures.push(error));
    }
    await this.#retired;
    if (failures.length > 0) throw failures[0];
  }

  async #run(): Promise<void> {
    const paths = [...this.#pending];
    this.#pending = new Set();
    const dependencies = paths.filter((path) => this.#isDependency(path));
    try {
      const changed = (file: string) => paths.includes(join(this.#project.folder, file));
      if (changed(configFile) || changed(environmentFile)) await this.#configure(changed(environmentFile));
      await this.#reloadDependencies(dependencies);
      // Without paths, the user asked for it.
      if (paths.length === 0 || paths.length > dependencies.length) await this.#build(paths);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #build(paths: readonly string[]): Promise<void> {
    const [first, ...more] = paths.map((path) => this.#shown(path));
    // Once per installation, and slow, so it shows its own progress.
    await prepareEngine([], this.#terminal);
    const because = first === undefined ? "" : ` after ${first}${more.length > 0 ? ` and ${more.length} more` : ""}`;
    const { signal, over } = this.#supersedable();
    try {
      await this.#terminal.step("Build", `${this.#project.config.project.name}${because}`, async () => {
        const { component } = await this.#built(signal);
        this.#builds += 1;
        await this.#server?.swap(component, this.#builds);
      });
      await this.#document(signal);
      await this.#compareRecording();
      await this.#mentionMigrations();
    } catch (error) {
      // The build of the newer changes follows, if there is one.
      if (!signal.aborted) throw error;
    } finally {
      over();
    }
  }

  /** Runs the recording in the served build, and shows it. */
  async #compareRecording(): Promise<void> {
    const { recording } = this.#options;
    if (recording === undefined) return;
    const isSame = await recording.compare(this.#project.component);
    this.#showRecording();
    this.#terminal.note("Replay", isSame ? "the recording is the same" : `the recording differs: ${this.recordingUrl}`);
  }

  /** Serves the page of the recording, which reloads when there is another build than the one that it knows. */
  #showRecording(): void {
    const { recording } = this.#options;
    if (recording !== undefined) this.#server?.showRecording(recording.page(this.#builds));
  }

  /** Returns a signal that ends a build when the sources change during it; `over` cancels that. */
  #supersedable(): { signal: AbortSignal; over: () => void } {
    const started = performance.now();
    const controller = new AbortController();
    const end = () => controller.abort();
    let timer: NodeJS.Timeout | undefined;
    const supersede = () => {
      timer ??= setTimeout(end, Math.max(0, supersededAfterMs - (performance.now() - started)));
    };
    const over = () => {
      this.#building = undefined;
      clearTimeout(timer);
    };
    this.#building = { supersede, end };
    return { signal: controller.signal, over };
  }

  /** Builds. Reports an endless top level long before the build times out. */
  async #built(signal: AbortSignal): Promise<Built> {
    const report = () => {
      const source = this.#shown(this.#project.source);
      this.#terminal.note(
        "Wait",
        `for the top level of ${source}, which may be endless; it ends after a change or 30 s`,
      );
    };
    let timer: NodeJS.Timeout | undefined;
    try {
      const step = (verb: string) => {
        if (verb === "Componentize") timer = setTimeout(report, longTopLevelMs);
      };
      return await this.#builder.build(this.#project, signal, step, ({ files, begun, isWhole }) =>
        this.#watching?.read(files, begun, isWhole),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns whether a file is one of the additional components. */
  #isDependency(path: string): boolean {
    return path.startsWith(join(this.#project.folder, "modules") + sep);
  }

  /** Shows the current API. The module is served even if OpenAPI cannot express it. */
  async #document(signal: AbortSignal): Promise<void> {
    try {
      this.#server?.showDocument(await this.#builder.document(this.#project, signal));
    } catch (error) {
      // Changed sources will give another one.
      if (this.#pending.size > 0 || signal.aborted) return;
      this.#server?.showNoDocument(error, this.#builds);
      const message = error instanceof Error ? error.message : String(error);
      this.#terminal.note("No schema", message.replaceAll(this.#project.folder + sep, ""));
    }
  }

  /** Reads `tenon.toml` again. The server goes on with the same socket, unless the change needs another runtime. */
  async #configure(hasOtherSecrets: boolean): Promise<void> {
    this.#project = inScratch(await requireProject(this.#project.folder));
    const server = this.#server;
    const same = server !== undefined && serving(server.project) === serving(this.#project);
    if (same && !hasOtherSecrets && !this.#isOutdated) return;
    this.#isOutdated = true;
    const file = hasOtherSecrets ? environmentFile : configFile;
    if (server === undefined || this.#needsRestart(server.created)) {
      await this.#serve(server);
      this.#terminal.note("Restart", `at ${this.url}, as ${file} says now`);
    } else {
      const options = await this.#runtimeOptions();
      await server.change(this.#project, options);
      await this.#consume(server, options);
      this.#terminal.note("Reload", file);
    }
    this.#isOutdated = false;
  }

  /** Reports whether the configuration has changes that a runtime cannot apply. */
  #needsRestart(created: Config): boolean {
    const { project, server } = this.#project.config;
    const { host, port } = this.#options;
    const unused = ["metrics_address", "admin", "log_format", "access_log"];
    if (host !== undefined) unused.push("host");
    if (port !== undefined) unused.push("port");
    return (
      project.name !== created.project.name ||
      fixedKeys(created, this.#project.config).some((key) => !unused.includes(key)) ||
      // No module can have more than the runtime.
      server.maxBodyBytes > created.server.maxBodyBytes ||
      server.maxResponseBytes > created.server.maxResponseBytes
    );
  }

  /** Returns the runtime's options, with the development services for sidecars that `tenon.toml` does not name. */
  async #runtimeOptions(): Promise<Serving> {
    const { config, folder } = this.#project;
    await requireTls(config, folder, process.env);
    const url = this.#services?.url ?? "";
    const taken = new Set(Object.keys(config.sidecars).map(sidecarVariable));
    const clients = sidecarKindNames.flatMap((kind) => sidecarKind(kind).client ?? []);
    const own = clients.filter((name) => !taken.has(sidecarVariable(name)));
    const environment = withEnvironmentFile(folder, process.env);
    const named = servingOptions(this.#withoutMissingSecrets(environment), folder, environment);
    return { ...named, sidecars: { ...Object.fromEntries(own.map((name) => [name, url])), ...named.sidecars } };
  }

  /**
   * Returns the configuration; at the start, without the secrets that are not there. Most routes work without them, and a new `.env`
   * takes effect at once. Later, the configuration before the change serves on.
   */
  #withoutMissingSecrets(environment: Environment): Config {
    const { config, folder } = this.#project;
    const { values, problem } = availableSecrets(config.secrets, folder, environment);
    if (problem === undefined || this.#server !== undefined) return config;
    this.#terminal.failure(problem.message, problem.hint);
    this.#terminal.note("Secrets", "the module is served without them; it gets them once they are there");
    const secrets = Object.fromEntries(Object.entries(config.secrets).filter(([name]) => Object.hasOwn(values, name)));
    return { ...config, secrets };
  }

  /** Starts a server, in the place of the former one if there is one. That one serves until the new one can. */
  async #serve(former?: DevServer): Promise<void> {
    const options = await this.#runtimeOptions();
    const started = await DevServer.create(this.#project, options, this.#terminal);
    try {
      if (former !== undefined) {
        await started.loadAll();
        // A component left by an earlier `tenon dev` does not count.
        if (former.hasBuild && existsSync(this.#project.component))
          await started.swap(this.#project.component, this.#builds);
        await this.#consumers?.close();
        this.#consumers = undefined;
      }
      await this.#listen(started, former);
    } catch (error) {
      if (this.#server !== started) await started.close();
      throw error;
    }
    this.#services?.attach(started.runtime, started.url);
    this.#showRecording();
    if (former === undefined) await started.loadAll();
    await this.#consume(started, options);
  }

  /** Has a server listen on the configured address, and closes the former one, whose port it keeps unless that changed. */
  async #listen(started: DevServer, former: DevServer | undefined): Promise<void> {
    const { server } = this.#project.config;
    const host = this.#options.host ?? server.host;
    const near = this.#options.port === undefined;
    const moves = near && server.port !== former?.created.server.port;
    const port = former === undefined || moves ? (this.#options.port ?? server.port) : former.port;
    if (former === undefined || moves) {
      await started.listen({ host, port, near });
    } else if (host === (this.#options.host ?? former.created.server.host)) {
      await started.takeOver(former);
      this.#retire(former);
    } else {
      this.#server = undefined;
      this.#retire(former);
      await started.listenAfter({ host, port, near });
    }
    // Before the rest, which may fail: an open server is closed in the end.
    this.#server = started;
    if (former !== undefined && moves) this.#retire(former);
    if (port !== 0 && started.port !== port) {
      this.#terminal.note(
        "Port",
        `${port} is taken by another program; this is ${started.port} (choose one with --port)`,
      );
    }
  }

  /** Closes a former server, whose running requests finish beside the new one's. */
  #retire(former: DevServer): void {
    const closed = former.close();
    closed.catch((error: unknown) => this.#terminal.detail(`the former server: ${String(error)}`));
    this.#retired = Promise.allSettled([this.#retired, closed]);
  }

  /**
   * Starts the consumers, or gives them other work. Jobs are the development services', whose consumer is that of
   * `Services.attach`, unless `tenon.toml` names a sidecar for them.
   */
  async #consume({ runtime }: DevServer, serving: Serving): Promise<void> {
    const { queues, ...jobs } = tasksOf(this.#project.config);
    const hasCron = hasSidecar("cron", serving.sidecars ?? {});
    const tasks = { queues, ...(hasCron ? jobs : {}) };
    const work = { tasks, serving, laterModules: true };
    if (this.#consumers === undefined) this.#consumers = await Consumers.start(work, runtime, this.#terminal);
    else await this.#consumers.change(work);
    if (hasCron || this.#services === undefined) return;
    const complain = (error: Error) => this.#terminal.note("Cron", error.message);
    await declareJobs(this.#services.url, { queues, ...jobs }).catch(complain);
  }

  async #reloadDependencies(paths: readonly string[]): Promise<void> {
    for (const path of paths.filter((each) => each.endsWith(".wasm"))) {
      if (!existsSync(path)) {
        this.#terminal.note("Gone", `${this.#shown(path)}; it is served until tenon dev is started again`);
        continue;
      }
      if (await this.#server?.loadDependency(path)) this.#terminal.note("Reload", this.#shown(path));
    }
  }

  #fail(error: unknown): void {
    this.#builds += 1;
    this.#server?.showError(error, this.#builds);
    this.#showRecording();
    const told = failureToTell(error);
    if (told !== undefined) this.#terminal.failure(told.message, told.hint);
    else this.#terminal.failure(error instanceof Error ? (error.stack ?? error.message) : String(error));
    const meanwhile =
      this.#server?.hasBuild === true
        ? "the last successful build is still served"
        : "no build has succeeded yet, so nothing is served";
    this.#terminal.note("Wait", `for a change; ${meanwhile}`);
  }

  #shown(path: string): string {
    return relative(this.#project.folder, path);
  }
}

/**
 * Refuses `--fresh` beside another `tenon dev`, because it deletes files that the other has open or has acknowledged.
 */
async function refuseBesideOthers(folder: string): Promise<void> {
  const [other] = await othersRunning(folder);
  if (other === undefined) return;
  throw new TenonError(
    "FOLDER",
    `--fresh would delete files of another \`tenon dev\` of this project, process ${other}`,
    "end that process first, or leave --fresh out",
  );
}

/** Moves the output of a development build to a folder in which `tenon run` does not look. */
function inScratch(project: Project): Project {
  const scratch = join(project.folder, ".tenon", "dev");
  const { name } = project.config.project;
  return {
    ...project,
    scratch,
    component: join(scratch, `${name}.wasm`),
    composed: join(scratch, `${name}-composed.wasm`),
    sourceMap: join(scratch, `${name}.wasm.map`),
  };
}

/** The parts of a project's configuration that the server starts with. */
function serving({
  config: { project, server, sidecars, queues, cron, outbound, secrets, env, modules },
}: Project): string {
  return JSON.stringify([project.name, server, sidecars, queues, cron, outbound, secrets, env, modules]);
}
