/** The runtime and the pages that `tenon dev` serves. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout } from "node:timers/promises";
import { refuseCoreFile } from "../core-module.ts";
import { Runtime } from "../embed/runtime.ts";
import type { ModuleOptions } from "../embed/runtime-options.ts";
import { TenonError } from "../errors.ts";
import { toolsPages, toolsPath } from "../mcp/tools-page.ts";
import { suggestPort } from "../options.ts";
import type { Config } from "../project/config.ts";
import { fileOfSource, moduleOptions, pulledFile } from "../project/modules.ts";
import { dependencies, moduleName, type Project } from "../project/project.ts";
import { withEnvironmentFile } from "../project/secrets.ts";
import type { servingOptions } from "../project/serving.ts";
import { schemaFile } from "../schema/document.ts";
import { referencePage, type ServedPage } from "../schema/reference-page.ts";
import type { Terminal } from "../terminal.ts";
import { buildingPage, buildState, errorPage, mapPath, noDocumentPage, statePath } from "./error-page.ts";
import { withWholeTexts } from "./map-texts.ts";
import { listenNear } from "./ports.ts";
import { recordingPath } from "./recording-page.ts";
import { logRequests } from "./request-log.ts";

/** Path of the page with the module's API. */
export const docsPath = "/docs";

/** The options from `tenon.toml`, with the development sidecars. */
export type Serving = ReturnType<typeof servingOptions>;

/** The address of a server. */
export interface DevAddress {
  readonly host: string;
  readonly port: number;
  /** Allows the next free port when this one is taken. */
  readonly near: boolean;
}

/** Milliseconds for which a server tries to listen on the port of a closing one. */
const handoverMs = 2_000;

/** The runtime of `tenon dev`. It serves the last successful build, whatever the state of the sources. */
export class DevServer {
  readonly runtime: Runtime;
  /** The configuration that the runtime was created with. It decides the limits of the server as a whole. */
  readonly created: Config;
  readonly #name: string;
  #project: Project;
  readonly #terminal: Terminal;
  readonly #stopLog: () => void;
  #listening = { url: "", port: 0 };
  #hasBuild = false;
  /** True when the pages of a build are at {@link docsPath} and at the path of the tools. */
  #hasPages = false;

  private constructor(runtime: Runtime, project: Project, terminal: Terminal) {
    this.runtime = runtime;
    this.created = project.config;
    this.#name = project.config.project.name;
    this.#project = project;
    this.#terminal = terminal;
    this.#stopLog = logRequests(runtime, terminal);
  }

  /**
   * Creates a server that does not listen yet.
   *
   * @throws TenonError `CONFIG`
   */
  static async create(project: Project, serving: Serving, terminal: Terminal): Promise<DevServer> {
    const runtime = await Runtime.create({
      ...serving,
      modules: [],
      logLevel: "info",
      // `tenon dev` has its own log of requests.
      accessLog: false,
    });
    // Before the first build, browsers get a page that waits for it.
    const { name } = project.config.project;
    const waiting = buildingPage(name);
    runtime.setBuildError(name, waiting);
    const server = new DevServer(runtime, project, terminal);
    server.#setInstead(waiting, 503);
    server.#setState(0);
    return server;
  }

  /** The address, such as `http://127.0.0.1:3000`. */
  get url(): string {
    return this.#listening.url;
  }

  get port(): number {
    return this.#listening.port;
  }

  /** The project whose configuration is served. */
  get project(): Project {
    return this.#project;
  }

  /**
   * Listens.
   *
   * @throws TenonError `ADDRESS_IN_USE` or `LISTEN`
   */
  async listen({ host, port, near }: DevAddress): Promise<void> {
    const listen = (at: number) => suggestPort(this.runtime.listen({ host, port: at, localNames: true }));
    this.#listening = near ? await listenNear(port, listen) : await listen(port);
  }

  /**
   * Listens where another server does, which is closed next. No connection is refused.
   *
   * @throws TenonError `LISTEN`
   */
  async takeOver(former: DevServer): Promise<void> {
    const [listening] = await this.runtime.takeOver(former.runtime);
    if (listening !== undefined) this.#listening = listening;
  }

  /**
   * Listens on the port of a server that is closing. Two servers cannot listen on one port, so it tries again until the
   * other has stopped listening, which takes milliseconds.
   *
   * @throws TenonError as {@link listen}
   */
  async listenAfter(address: DevAddress): Promise<void> {
    const end = performance.now() + handoverMs;
    for (;;) {
      const isLast = performance.now() > end;
      try {
        return await this.listen({ ...address, near: address.near && isLast });
      } catch (error) {
        const taken = error instanceof TenonError && error.code === "ADDRESS_IN_USE";
        if (!taken || isLast) throw error;
        await setTimeout(1);
      }
    }
  }

  /** Loads the components of `modules/` and of `[modules]`. One that cannot be loaded is reported and left out. */
  async loadAll(): Promise<void> {
    for (const [name, file] of await this.#files(this.#project)) await this.#loadOrReport(name, file);
  }

  /**
   * Serves another configuration with the same runtime, so that no connection is refused. Keys that only a new runtime
   * can have are not applied.
   *
   * @throws TenonError as `Runtime.create`; the former configuration is served then
   */
  async change(project: Project, serving: Serving): Promise<void> {
    const files = await this.#files(project);
    const loaded = new Set(this.runtime.modules);
    const kept = [...files].filter(([name]) => loaded.has(name));
    if (this.#hasBuild && existsSync(project.component)) kept.push([this.#name, project.component]);
    const modules = Object.fromEntries(kept.map(([name, file]) => [name, optionsOf(name, file, project)]));
    await this.runtime.update({ ...serving, modules });
    this.#project = project;
    // One that cannot be loaded must not hold up the others.
    for (const [name, file] of files) if (!loaded.has(name)) await this.#loadOrReport(name, file);
  }

  /** Returns whether a build of the project is served. */
  get hasBuild(): boolean {
    return this.#hasBuild;
  }

  /** Replaces the served component with a new build. */
  async swap(component: string, build: number): Promise<void> {
    // Before loading, so that pages never see the new build with the state of the former one.
    const map = await withWholeTexts(await readFile(`${component}.map`, "utf8"), this.#project.folder);
    await this.#load(this.#name, component);
    this.#hasBuild = true;
    this.runtime.setBuildError(this.#name, undefined);
    this.runtime.setPage(mapPath, { contentType: "application/json", body: map, unlisted: true });
    this.#setState(build);
  }

  /** Shows build errors to browsers; other clients get the last successful build. */
  showError(error: unknown, build: number): void {
    const page = errorPage(this.#name, error, build);
    this.runtime.setBuildError(this.#name, page);
    if (!this.#hasPages) this.#setInstead(page, 503);
    this.#setState(build);
  }

  /** Serves the page of a recording. */
  showRecording(html: string): void {
    this.runtime.setPage(recordingPath, { contentType: "text/html; charset=utf-8", body: html, unlisted: true });
  }

  /** Serves the module's OpenAPI document, the page that shows it, and that of its tools. */
  showDocument(json: string): void {
    const specUrl = `/run/${this.#name}/${schemaFile}`;
    this.#hasPages = true;
    this.#setPages([
      { path: specUrl, contentType: "application/json", body: json },
      ...referencePage({ title: this.#name, specUrl }),
      ...this.#toolsPages(),
    ]);
  }

  /** Serves the reason why the build has no OpenAPI document, unless there is that of a former build. */
  showNoDocument(error: unknown, build: number): void {
    if (this.#hasPages) return;
    this.#setInstead(noDocumentPage(this.#name, error, build), 404);
    if (!this.#answersPaths()) this.#setPages(this.#toolsPages());
  }

  /** Reports whether the app itself may answer at the paths of pages, because it is served outside `/run` as well. */
  #answersPaths(): boolean {
    const { mount, host } = this.#project.config.modules[this.#name] ?? {};
    return this.#hasBuild && (mount !== undefined || host !== undefined);
  }

  /** Serves one page at each path that has a page of a build later, unless the app answers there. */
  #setInstead(body: string, status: number): void {
    const page = { contentType: "text/html; charset=utf-8", body, status, unlisted: true };
    for (const path of [docsPath, `${docsPath}/`, toolsPath])
      this.runtime.setPage(path, this.#answersPaths() ? undefined : page);
  }

  #toolsPages(): ServedPage[] {
    return toolsPages({ name: this.#name, folder: this.#project.folder });
  }

  /** Serves pages. They are no requests of the module, which the page of the services lists. */
  #setPages(pages: readonly ServedPage[]): void {
    for (const { path, ...page } of pages) this.runtime.setPage(path, { ...page, unlisted: true });
  }

  /** Loads or reloads a component of `modules/`. Returns whether it can be served. */
  loadDependency(file: string): Promise<boolean> {
    return this.#loadOrReport(moduleName(file), file);
  }

  /** Returns the components besides the project's own. A `source` that cannot be had is reported and left out. */
  async #files(project: Project): Promise<Map<string, string>> {
    const files = new Map((await dependencies(project)).map((file) => [moduleName(file), file]));
    for (const [name, { source }] of Object.entries(project.config.modules)) {
      if (source === undefined) continue;
      files.delete(name);
      try {
        files.set(name, await fileOfSource(name, source, project, pulledFile));
      } catch (error) {
        this.#report(`[modules.${name}]`, error);
      }
    }
    return files;
  }

  /** Loads a component with the project's policy for it. */
  async #load(name: string, file: string): Promise<void> {
    await this.runtime.reload(name, optionsOf(name, file, this.#project));
  }

  async #loadOrReport(name: string, file: string): Promise<boolean> {
    try {
      refuseCoreFile(file, "it");
      await this.#load(name, file);
      return true;
    } catch (error) {
      const hasSource = this.#project.config.modules[name]?.source !== undefined;
      this.#report(hasSource ? `[modules.${name}]` : `modules/${basename(file)}`, error);
      return false;
    }
  }

  #report(place: string, error: unknown): void {
    const hint = error instanceof TenonError ? error.hint : undefined;
    this.#terminal.failure(`${place}: ${error instanceof Error ? error.message : String(error)}`, hint);
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

/** A component with the project's policy for it. */
function optionsOf(name: string, file: string, { config, folder }: Project): ModuleOptions {
  const policy = config.modules[name];
  if (policy === undefined) return { source: file };
  return moduleOptions(name, policy, file, folder, withEnvironmentFile(folder, process.env));
}
