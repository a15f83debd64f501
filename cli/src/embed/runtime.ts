/** The class `Runtime`: modules served inside a Node program. */
import type { Runtime as NativeRuntime, Server as NativeServer } from "@tenon/native";
import { TenonError } from "../errors.ts";
import { limits } from "../limits.ts";
import { compilerCommand, fromNative, native } from "../native.ts";
import { camelCase } from "../project/config/key.ts";
import { listenOptions, refuseWrongModule, refuseWrongOptions } from "./check-options.ts";
import { Exchanges } from "./exchanges.ts";
import type { Fetching } from "./fetching.ts";
import { InProcessSidecars } from "./in-process.ts";
import { headOf, type Incoming, type Outgoing, peerOf } from "./listener/incoming.ts";
import type { Handled } from "./listener/listener.ts";
import type { Handle } from "./listener/node-http.ts";
import { LogDelivery } from "./log.ts";
import { isFile, isSource, type ModuleFile, pathOf } from "./module-source.ts";
import { nativeOptions, wholeModules } from "./native-options.ts";
// Imported with the package, before a server can replace the globals; `fetching.ts` is imported at the first `fetch`.
import type { Fetched } from "./platform.ts";
import "./platform.ts";
import { defaultCacheFolder } from "../cache-folder.ts";
import { type Evaluated, type EvaluateOptions, Sandbox, type SandboxOptions } from "../sandbox/sandbox.ts";
import { pullAll } from "./pull-modules.ts";
import type { ListenOptions, ModuleOptions, RuntimeOptions, Sidecars } from "./runtime-options.ts";
import type { BudgetState, Listening, Page, RecentRequest } from "./runtime-state.ts";
import type { RequestUsage } from "./usage.ts";
import { UsageListeners } from "./usage-listeners.ts";

/**
 * Serves components inside this process: `const runtime = await Runtime.create({ modules: ["dist/hello.wasm"] })`, then
 * `fetch` without a socket, `listen` with one, and `close` at the end.
 */
export class Runtime {
  readonly #runtime: NativeRuntime;
  readonly #sidecars: InProcessSidecars;
  readonly #log: LogDelivery | undefined;
  readonly #usage: UsageListeners;
  /** The options that are served: those of `create`, or of the last update. */
  #options: RuntimeOptions;
  readonly #scheme: "http" | "https";
  readonly #shutdownTimeoutMs: number;
  readonly #writeTimeoutMs: number;
  #exchanges: Exchanges | undefined;
  #loading: Promise<Fetching> | undefined;
  #fetching: Fetching | undefined;
  #listening: Promise<typeof import("./listener/listener.ts")> | undefined;
  /** Maps each server to whether it serves operations alone. */
  readonly #servers = new Map<NativeServer, boolean>();
  /** Keeps the process alive while there is a server: the addon's own does not. */
  #alive: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;
  readonly #sandboxes = new Set<Sandbox>();
  /** The sandbox of {@link evaluate}. */
  #plainSandbox: Promise<Sandbox> | undefined;
  /** A copy of the readable state, for after the close. */
  #left: (Pick<Runtime, "modules"> & { metrics: string; recentRequests: RecentRequest[] }) | undefined;

  private constructor(
    runtime: NativeRuntime,
    sidecars: InProcessSidecars,
    log: LogDelivery | undefined,
    options: RuntimeOptions,
  ) {
    this.#runtime = runtime;
    this.#sidecars = sidecars;
    this.#log = log;
    this.#usage = new UsageListeners(runtime);
    this.#options = options;
    this.#scheme = options.tls === undefined ? "http" : "https";
    this.#shutdownTimeoutMs = options.shutdownTimeoutMs ?? limits.shutdown_timeout_ms.default;
    this.#writeTimeoutMs = options.writeTimeoutMs ?? limits.write_timeout_ms.default;
  }

  /**
   * Loads modules; one whose code is not cached is compiled first, which takes seconds, on threads of its own.
   *
   * @throws TenonError `CONFIG`, `ENGINE`, `MODULE_READ`, `MODULE_COMPILE`, `MODULE_TIMEOUT`, `MODULE_LINK` or `INTERNAL`; for a reference
   *   `USAGE`, `REGISTRY` or `WRITE` as well, and for a sidecar in this process `BACKEND` or `FOLDER`
   */
  static async create(options: RuntimeOptions): Promise<Runtime> {
    const compiler = compilerCommand();
    refuseWrongOptions(options);
    const { onLog, logLevel = "warn" } = options;
    const log = onLog === undefined ? undefined : new LogDelivery(onLog, logLevel);
    const sidecars = new InProcessSidecars();
    try {
      const given = nativeOptions(await sidecars.place(options));
      const modules = await pullAll(given.modules, options);
      const checked = { ...given, modules, ...(compiler === undefined ? {} : { compiler }) };
      return new Runtime(await fromNative(native().Runtime.create(checked)), sidecars, log, options);
    } catch (error) {
      await sidecars.close();
      log?.close();
      throw error;
    }
  }

  /** The addon's own runtime, for other parts of the addon. @internal */
  get native(): NativeRuntime {
    return this.#runtime;
  }

  /** The names of the modules, sorted. */
  get modules(): string[] {
    return this.#left?.modules ?? this.#runtime.modules();
  }

  /**
   * Loads a module anew, from `file` when one is given, while the old one serves, and puts it in its place; requests that
   * run finish where they are. A module that is not known is added, and needs a file. It keeps its policy, unless
   * {@link ModuleOptions} are given in the place of the file.
   *
   * @throws TenonError `CONFIG`, `MODULE_READ`, `MODULE_COMPILE`, `MODULE_LINK` or `INTERNAL`; the old module goes on serving
   */
  async reload(name: string, file?: ModuleFile | ModuleOptions): Promise<void> {
    if (file === undefined) return fromNative(this.#runtime.reload(name));
    if (isFile(file)) {
      const [{ path }] = await pullAll([{ name, path: pathOf(file) }], this.#options);
      return fromNative(this.#runtime.reload(name, path));
    }
    if (typeof file !== "object" || file instanceof URL || isSource(file))
      throw new TenonError("CONFIG", "`file` must be a path, a file: URL, or options such as { source: bytes }");
    refuseWrongModule(name, file);
    const options = { ...this.#options, modules: { [name]: file } };
    // The complete policy, because the addon's inherited one is that of `create`, even after an update.
    const [module] = await pullAll(wholeModules(await this.#sidecars.place(options)), options);
    if (module !== undefined) await fromNative(this.#runtime.load(module));
  }

  /**
   * Replaces the modules with those of other options, each with its policy, all at once while the old ones serve.
   * Options of the server itself are not applied. @internal
   *
   * @throws TenonError as {@link create}; all old modules go on serving then, and `/health` says so
   */
  async update(options: RuntimeOptions): Promise<void> {
    try {
      const placed = await this.#sidecars.place(options);
      await fromNative(this.#runtime.update(await pullAll(wholeModules(placed), options)));
    } catch (error) {
      this.noteFailedUpdate();
      await this.#sidecars.keep(this.#options);
      throw error;
    }
    this.#options = options;
    await this.#sidecars.keep(options);
  }

  /** Notes in `/health` that there is a newer configuration, which cannot be served. @internal */
  noteFailedUpdate(): void {
    this.#runtime.noteFailedUpdate();
  }

  /**
   * Returns the addresses of sidecars. Those in this process must be the runtime's. @internal
   *
   * @throws TenonError `CONFIG` for a sidecar that does not run
   */
  sidecarAddresses(sidecars: Sidecars): Promise<Record<string, string>> {
    return this.#sidecars.addresses(sidecars);
  }

  /** The metrics so far, in the text format of Prometheus, the same as `/metrics`. */
  metrics(): string {
    return this.#left?.metrics ?? this.#runtime.metrics();
  }

  /**
   * Calls a function after each request of a module, with its use. A request that streams its answer has ended when its module has.
   * Without a listener, and without a budget of the module, requests are not metered, because that takes time of its own. Records wait for
   * Node's thread; when 100,000 wait, further ones are dropped.
   *
   * @throws TenonError `CONFIG`, or `REQUEST` when the runtime is closed
   */
  on(event: "usage", listener: (usage: RequestUsage) => void): this {
    if (this.#closing !== undefined) throw new TenonError("REQUEST", closed);
    this.#usage.add(event, listener);
    return this;
  }

  /** Removes a listener that was added with {@link on}. */
  off(event: "usage", listener: (usage: RequestUsage) => void): this {
    this.#usage.remove(event, listener);
    return this;
  }

  /** The remainders of the modules that have a budget, sorted by name. Empty when the runtime is closed. */
  budgets(): BudgetState[] {
    if (this.#left !== undefined) return [];
    return this.#runtime.budgets().map((budget) => ({
      ...budget,
      // The addon names it as tenon.toml does, and a program as its own options do.
      parts: budget.parts.map((each) => ({ ...each, part: camelCase(each.part) })),
    })) as BudgetState[];
  }

  /** The last 200 requests, oldest first. */
  recentRequests(): RecentRequest[] {
    return (
      this.#left?.recentRequests ??
      this.#runtime.recentRequests().map(({ duration_ms: durationMs, ...request }) => ({ ...request, durationMs }))
    );
  }

  /** For development: serves a page at the exact path `path`, before everything else; undefined takes it away. */
  setPage(path: string, page: Page | undefined): void {
    this.#runtime.setPage(
      path,
      page && {
        contentType: page.contentType,
        body: Buffer.from(page.body as Uint8Array),
        ...(page.status === undefined ? {} : { status: page.status }),
        ...(page.unlisted === undefined ? {} : { unlisted: page.unlisted }),
      },
    );
  }

  /**
   * For development: records that the newest source of a module cannot be built, until it is set to undefined. Browsers
   * get `html` with status 500; other clients the last good module's answer, or 503 without one.
   */
  setBuildError(module: string, html: string | undefined): void {
    this.#runtime.setBuildError(module, html);
  }

  /**
   * Answers a request as a server would at the same URL, `/run/<module>/…` included, without a socket in between. It
   * takes the arguments of the global `fetch`.
   *
   * A streamed answer resolves with its head; each read of its `body` makes the module produce the next piece.
   * Cancelling the body ends the stream in the module, and so does collecting it as garbage.
   *
   * The body of the request may be a `ReadableStream` (with `duplex: "half"`). Beyond 256 KiB, and where it has to be waited for,
   * it is read while the module answers: a piece when the module asks for it, or all of it up to `maxBodyBytes` for a module
   * that takes bodies as a whole. It need not be there when the answer is. When the module reads no more of it, its stream is
   * cancelled.
   *
   * Aborting the request's signal cancels it in the module, too. The limits of bodies hold here as well: when a body
   * is too large (413) or does not come in time (408), the rest is not read.
   *
   * @throws TenonError `RESPONSE` when the module's answer breaks off, or the runtime is closed and its time is over
   * @throws TenonError `REQUEST` when HTTP does not allow such a request, or the runtime was closed before
   * @throws TenonError `CONFIG` when it is neither a request nor a URL
   * @throws TypeError as `new Request` does, and when the body was read before
   * @throws the signal's reason when it is aborted, and the error of the body's stream
   */
  async fetch(input: Fetched, init?: RequestInit): Promise<Response> {
    if (this.#closing !== undefined) throw new TenonError("REQUEST", closed);
    const fetching = this.#fetching ?? (await this.#load());
    return fetching.fetch(input, init);
  }

  /**
   * Answers a request of Node's `http`, and so of Express and Fastify (`reply.raw`): `createServer(runtime.handle)`, `app.use(runtime.handle)`.
   * It need not be called as a method.
   *
   * It answers everything itself, failures with problem details, and never throws or rejects. Bodies are streamed in both directions
   * with back-pressure. When the client leaves, the request is cancelled in the module; when the module's stream breaks off, the
   * connection ends. `req.ip` of the SDK is the client's.
   *
   * It must come before middleware that reads bodies, such as `express.json()`. Headers that middleware set on the response are sent
   * as well.
   *
   * @param next called, instead of an answer, when the request is for no module: its path is neither `/run/<module>` nor below a
   *   mount. Without it, such a request is answered as a server would: `/health`, `/ready`, `/metrics`, otherwise 404.
   * @returns a promise that resolves when the answer has left or the client has; undefined after a call of `next`, because
   *   Fastify would go on a second time when a promise resolves
   */
  readonly handle = ((request, response, next) => {
    const [incoming, outgoing] = [request as Incoming, response as Outgoing];
    const peer = peerOf(incoming);
    let head = "";
    let failure: unknown;
    try {
      head = headOf(incoming);
    } catch (error) {
      failure = error;
    }
    if (next === undefined || (failure === undefined && this.#isForModule(head, peer)))
      return this.#answer({ incoming, outgoing, head, ...(peer && { peer }) }, failure);
    // Errors of `next` are its own.
    next();
    return undefined;
  }) as Handle;

  async #answer(request: Pick<Handled, "incoming" | "outgoing" | "head" | "peer">, failure: unknown): Promise<void> {
    const isLast = this.#closing !== undefined;
    this.#listening ??= import("./listener/listener.ts");
    const { answer } = await this.#listening;
    await answer(
      isLast ? undefined : this.#begun(),
      { ...request, isLast, writeTimeoutMs: this.#writeTimeoutMs },
      failure,
    );
  }

  #isForModule(head: string, peer: ReturnType<typeof peerOf>): boolean {
    if (this.#left === undefined) return this.#runtime.isForModule(head, peer);
    const [, path = ""] = head.split("\n");
    const [, name] = /^\/run\/([^/?]+)/.exec(path) ?? [];
    return name !== undefined && this.#left.modules.includes(name);
  }

  /** The requests of this process. */
  #begun(): Exchanges {
    this.#exchanges ??= new Exchanges(this.#runtime);
    return this.#exchanges;
  }

  /**
   * Makes a sandbox, which evaluates source texts inside this process: `await sandbox.evaluate("1 + 1")`. It has nothing of the runtime's
   * modules: no sidecar, no variable, no host. It is closed with the runtime.
   *
   * @throws TenonError `CONFIG`, or `REQUEST` when the runtime is closed
   */
  async sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
    if (this.#closing !== undefined) throw new TenonError("REQUEST", closed);
    const { cacheFolder = defaultCacheFolder() } = this.#options;
    const sandbox: Sandbox = await Sandbox.create(options, cacheFolder, () => this.#sandboxes.delete(sandbox));
    this.#sandboxes.add(sandbox);
    // The runtime may have been closed meanwhile.
    if (this.#closing === undefined) return sandbox;
    await sandbox.close();
    throw new TenonError("REQUEST", closed);
  }

  /**
   * Evaluates a source text: `await runtime.evaluate("1 + 1")`. It is `evaluate` of a sandbox without options, which the first call makes.
   *
   * @throws TenonError as {@link sandbox}, and as `evaluate` of a {@link Sandbox}
   */
  async evaluate(source: string, options: EvaluateOptions = {}): Promise<Evaluated> {
    if (this.#closing !== undefined) throw new TenonError("REQUEST", closed);
    this.#plainSandbox ??= this.sandbox().catch((error: unknown) => {
      this.#plainSandbox = undefined;
      throw error;
    });
    return (await this.#plainSandbox).evaluate(source, options);
  }

  /**
   * Listens for HTTP. As with a server of Node's own, the process does not end by itself until {@link close} is called.
   *
   * @throws TenonError `CONFIG`, `ADDRESS_IN_USE` or `LISTEN`, the last one also when the runtime is closed
   */
  async listen(options: ListenOptions = {}): Promise<Listening> {
    if (this.#closing !== undefined) throw new TenonError("LISTEN", closed);
    const { host, port, localNames, operations } = listenOptions(options);
    return this.#serve(
      await fromNative(this.#runtime.listen(host, port, localNames, operations), (code) =>
        code === "ADDRESS_IN_USE"
          ? "another program listens there; choose another port, or 0 for a free one"
          : undefined,
      ),
      operations,
    );
  }

  /**
   * Listens where another runtime listens, for the same clients. Both get connections until that one is closed, so that none is
   * refused when this one takes its place.
   *
   * @throws TenonError `LISTEN`, also when one of them is closed
   */
  async takeOver(former: Runtime): Promise<Listening[]> {
    if (this.#closing !== undefined || former.#closing !== undefined) throw new TenonError("LISTEN", closed);
    return Promise.all(
      [...former.#servers].map(async ([server, operations]) =>
        this.#serve(await fromNative(this.#runtime.takeOver(server)), operations),
      ),
    );
  }

  async #serve(server: NativeServer, operations: boolean): Promise<Listening> {
    // It may have been closed meanwhile.
    if (this.#closing !== undefined) {
      await server.close();
      throw new TenonError("LISTEN", closed);
    }
    this.#servers.set(server, operations);
    this.#alive ??= setInterval(() => {}, 2 ** 30);
    const shown = server.host.includes(":") ? `[${server.host}]` : server.host;
    return {
      host: server.host,
      port: server.port,
      url: `${operations ? "http" : this.#scheme}://${shown}:${server.port}`,
    };
  }

  /**
   * Has `/ready` answer 503 and each answer of HTTP/1 close its connection from now on, and resolves after `drainMs`. Requests are
   * served meanwhile, so that nobody sends any more when {@link close} follows.
   */
  async drain(): Promise<void> {
    await fromNative(this.#runtime.drain());
  }

  /**
   * Stops listening, and resolves when running requests, those of `fetch` among them, have finished or their time is
   * over (`shutdownTimeoutMs`) and all traces are sent. From now on `fetch` and `listen` reject. The modules and their
   * memory are freed at once; the metrics can still be read.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Closes at the end of a block: `await using runtime = await Runtime.create(…)`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    // A `fetch` that waits for its code to be loaded continues before this does.
    const fetches = Promise.all([this.#loading, this.#listening]).then(() =>
      this.#exchanges?.end(this.#shutdownTimeoutMs),
    );
    try {
      await Promise.all([fetches, ...[...this.#servers.keys()].map((server) => server.close())]);
      await fromNative(this.#runtime.flush());
      await Promise.all([...this.#sandboxes].map((sandbox) => sandbox.close()));
      await this.#sidecars.close();
      this.#usage.close();
      const { modules } = this;
      this.#left = { modules, metrics: this.metrics(), recentRequests: this.recentRequests() };
      this.#runtime.release();
    } finally {
      this.#log?.close();
      clearInterval(this.#alive);
    }
  }

  /** Loaded when it is wanted: Node's `Response` alone takes a fifth of the time in which a server starts. */
  #load(): Promise<Fetching> {
    this.#loading ??= import("./fetching.ts").then(({ Fetching }) => {
      this.#fetching = new Fetching(this.#begun());
      return this.#fetching;
    });
    return this.#loading;
  }
}

const closed = "the runtime is closed";
