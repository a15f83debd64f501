/** The runtime and the pages that `tenon dev` serves. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { suggestPort } from "../options.ts";
import { fileOfSource, moduleOptions, pulledFile } from "../project/modules.ts";
import { dependencies, moduleName, type Project } from "../project/project.ts";
import { withEnvironmentFile } from "../project/secrets.ts";
import type { servingOptions } from "../project/serving.ts";
import { Runtime } from "../runtime.ts";
import { schemaFile } from "../schema/document.ts";
import { referencePage } from "../schema/reference-page.ts";
import type { Terminal } from "../terminal.ts";
import { buildingPage, buildState, errorPage, mapPath, statePath } from "./error-page.ts";
import { listenNear } from "./ports.ts";
import { logRequests } from "./request-log.ts";

/** Path of the page with the module's API. */
export const docsPath = "/docs";

/** Where to listen, and which sidecars modules may call. */
export interface DevServerOptions {
  readonly host: string;
  readonly port: number;
  /** Allows the next free port when this one is taken. */
  readonly near: boolean;
  /** The options from `tenon.toml`, with the development sidecars. */
  readonly serving: ReturnType<typeof servingOptions>;
}

/** The runtime of `tenon dev`. It serves the last successful build, whatever the state of the sources. */
export class DevServer {
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly port: number;
  readonly runtime: Runtime;
  readonly #name: string;
  readonly #project: Project;
  readonly #terminal: Terminal;
  readonly #stopLog: () => void;
  #hasBuild = false;

  private constructor(
    runtime: Runtime,
    project: Project,
    terminal: Terminal,
    { url, port }: { url: string; port: number },
  ) {
    this.runtime = runtime;
    this.#name = project.config.project.name;
    this.#project = project;
    this.#terminal = terminal;
    this.url = url;
    this.port = port;
    this.#stopLog = logRequests(runtime, terminal);
  }

  /**
   * Listens, and loads the components of `modules/`. A component that cannot be loaded is reported and left out.
   *
   * @throws TenonError `ADDRESS_IN_USE`, `LISTEN` or `CONFIG`
   */
  static async start(project: Project, options: DevServerOptions, terminal: Terminal): Promise<DevServer> {
    const runtime = await Runtime.create({
      ...options.serving,
      modules: [],
      logLevel: "info",
      // `tenon dev` has its own log of requests.
      accessLog: false,
    });
    // Before the first build, browsers get a page that waits for it.
    runtime.setBuildError(project.config.project.name, buildingPage(project.config.project.name));
    const { host, port, near } = options;
    const listen = (at: number) => suggestPort(runtime.listen({ host, port: at, localNames: true }));
    const listening = near ? await listenNear(port, listen) : await listen(port);
    const server = new DevServer(runtime, project, terminal, listening);
    const { modules } = project.config;
    for (const file of await dependencies(project))
      if (modules[moduleName(file)]?.source === undefined) await server.loadDependency(file);
    for (const [name, { source }] of Object.entries(modules))
      if (source !== undefined) await server.#loadSource(name, source);
    return server;
  }

  /** Returns whether a build of the project is served. */
  get hasBuild(): boolean {
    return this.#hasBuild;
  }

  /** Replaces the served component with a new build. */
  async swap(component: string, build: number): Promise<void> {
    await this.#load(this.#name, component);
    this.#hasBuild = true;
    this.runtime.setBuildError(this.#name, undefined);
    const map = await readFile(`${component}.map`, "utf8");
    this.runtime.setPage(mapPath, { contentType: "application/json", body: map, unlisted: true });
    this.#setState(build);
  }

  /** Shows build errors to browsers; other clients get the last successful build. */
  showError(error: unknown, build: number): void {
    this.runtime.setBuildError(this.#name, errorPage(this.#name, error, build));
    this.#setState(build);
  }

  /** Serves the module's OpenAPI document, and the page that shows it. */
  showDocument(json: string): void {
    const specUrl = `/run/${this.#name}/${schemaFile}`;
    this.runtime.setPage(specUrl, { contentType: "application/json", body: json });
    for (const { path, ...page } of referencePage({ title: this.#name, specUrl })) this.runtime.setPage(path, page);
  }

  /** Loads or reloads a component of `modules/`. Returns whether it can be served. */
  async loadDependency(file: string): Promise<boolean> {
    try {
      await this.#load(moduleName(file), file);
      return true;
    } catch (error) {
      this.#terminal.failure(`modules/${basename(file)}: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  }

  /** Loads a component with the project's policy for it. */
  async #load(name: string, file: string): Promise<void> {
    const { config, folder } = this.#project;
    const policy = config.modules[name];
    const environment = withEnvironmentFile(folder, process.env);
    await this.runtime.reload(
      name,
      policy === undefined ? file : moduleOptions(name, policy, file, folder, environment),
    );
  }

  /** Loads the component of a `source`. Returns whether it can be served. */
  async #loadSource(name: string, source: string): Promise<void> {
    try {
      await this.#load(name, await fileOfSource(name, source, this.#project, pulledFile));
    } catch (error) {
      this.#terminal.failure(`[modules.${name}]: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Stops listening, and resolves when running requests are done. */
  async close(): Promise<void> {
    await this.runtime.close();
    this.#stopLog();
  }

  #setState(build: number): void {
    this.runtime.setPage(statePath, { contentType: "application/json", body: buildState(build), unlisted: true });
  }
}
