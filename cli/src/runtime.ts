import type { Runtime as NativeRuntime, Server as NativeServer } from "@tenon/native";
import { defaultCacheFolder } from "./cache-folder.ts";
import type { Calls } from "./calls.ts";
import { TenonError } from "./errors.ts";
import { type Limits, limits } from "./limits.ts";
import { fromNative, native } from "./native.ts";
import { sidecarNamesProblem } from "./project/config/addresses.ts";

/** What a {@link Runtime} is told, its limits among it. */
export interface RuntimeOptions extends Limits {
  /** Component files, each called after its file without `.wasm` and `-composed`; or files by the names to call them. */
  readonly modules: readonly string[] | Readonly<Record<string, string>>;
  /** Addresses of sidecars by name: `http://host:port` or `unix:///path`. */
  readonly sidecars?: Readonly<Record<string, string>>;
  /**
   * Hosts that modules may call besides: `host`, `host:port`, or either behind `http://` or `https://`. A name that
   * resolves to a private address is refused unless that address is listed as well.
   */
  readonly outboundAllow?: readonly string[];
  /** Environment variables that every module sees. Nothing of the process's own environment is added. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * What requests to one module share: nothing (`request`, the default), or instances, one request after another
   * (`shared`): faster, but a request may see what an earlier one left in memory.
   */
  readonly isolation?: "request" | "shared";
  /** The files of a certificate with its chain and of its key, in PEM; `listen` serves HTTPS then. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Where compiled code is kept; false compiles anew each time. The user's cache folder when left out. */
  readonly cacheFolder?: string | false;
  /** What is logged to standard error; `warn` when left out. The first runtime of a process decides. */
  readonly logLevel?: "off" | "error" | "warn" | "info" | "debug";
  /** How it is logged; `readable` when left out. The first runtime of a process decides. */
  readonly logFormat?: "readable" | "json";
  /** Whether each request is a line in the log, whatever the level. */
  readonly accessLog?: boolean;
  /**
   * Where traces are sent: `http://host:port` or `https://host:port` of an OpenTelemetry collector that takes OTLP over
   * HTTP. None are sent when left out.
   */
  readonly otlpEndpoint?: string;
}

/** A page that is served from memory. */
export interface Page {
  /** 200 when left out. */
  readonly status?: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Whether requests for it are left out of the recent ones. */
  readonly unlisted?: boolean;
}

/** A request that was answered. */
export interface RecentRequest {
  readonly id: string;
  /** When it came in, in milliseconds since 1970. */
  readonly time: number;
  /** Left out when it was for the runtime itself, or for no module that there is. */
  readonly module?: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** 499 when the client did not wait for the answer. */
  readonly status: number;
  /** From the head of the request to the head of the response. */
  readonly duration_ms: number;
}

/** Where to listen; 127.0.0.1 and a free port when left out. */
export interface ListenOptions {
  readonly host?: string;
  readonly port?: number;
}

/** An address that is listened on. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string;
}

/**
 * Serves components inside this process: `const runtime = await Runtime.create({ modules: ["dist/hello.wasm"] })`, then
 * `fetch` without a socket, `listen` with one, and `close` at the end.
 */
export class Runtime {
  readonly #runtime: NativeRuntime;
  #calls: Calls | undefined;
  readonly #servers = new Set<NativeServer>();
  readonly #scheme: "http" | "https";

  private constructor(runtime: NativeRuntime, scheme: "http" | "https") {
    this.#runtime = runtime;
    this.#scheme = scheme;
  }

  /**
   * Loads modules; one whose code is not cached is compiled first, which takes seconds, on threads of its own.
   *
   * @throws TenonError `CONFIG`, `ENGINE`, `MODULE_READ`, `MODULE_COMPILE` or `MODULE_LINK`
   */
  static async create(options: RuntimeOptions): Promise<Runtime> {
    const {
      modules,
      cacheFolder = defaultCacheFolder(),
      logLevel = "warn",
      sidecars,
      env,
      outboundAllow,
      ...others
    } = options;
    const problem = sidecarNamesProblem(Object.keys(sidecars ?? {}));
    if (problem !== undefined) throw new TenonError("CONFIG", `sidecars: ${problem}`);
    const created = native().Runtime.create({
      ...nativeOptions(others),
      modules: Array.isArray(modules)
        ? modules.map((path) => ({ path }))
        : Object.entries(modules).map(([name, path]) => ({ name, path })),
      logLevel,
      ...(sidecars === undefined ? {} : { sidecars: { ...sidecars } }),
      ...(env === undefined ? {} : { env: { ...env } }),
      ...(outboundAllow === undefined ? {} : { outboundAllow: [...outboundAllow] }),
      ...(cacheFolder === false ? {} : { cacheDir: cacheFolder }),
    });
    return new Runtime(await fromNative(created), options.tls === undefined ? "http" : "https");
  }

  /** The addon's own runtime, for what else of the addon works with it. @internal */
  get native(): NativeRuntime {
    return this.#runtime;
  }

  /** The names of the modules, sorted. */
  get modules(): string[] {
    return this.#runtime.modules();
  }

  /**
   * Loads a module anew, from `file` when one is given, while the old one serves, and puts it in its place; requests that
   * run finish where they are. A module that is not known is added, and needs a file.
   *
   * @throws TenonError `CONFIG`, `MODULE_READ`, `MODULE_COMPILE` or `MODULE_LINK`; the old module goes on serving
   */
  async reload(name: string, file?: string): Promise<void> {
    await fromNative(this.#runtime.reload(name, file));
  }

  /** What has been counted so far, in the text format of Prometheus, as `/metrics` has it. */
  metrics(): string {
    return this.#runtime.metrics();
  }

  /** The last 200 requests, oldest first. */
  recentRequests(): RecentRequest[] {
    return this.#runtime.recentRequests();
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
   * For development: notes that the newest source of a module cannot be built, until it is set to undefined. Browsers get
   * `html` with status 500; others what the last good module answers, or 503 when there is none.
   */
  setBuildError(module: string, html: string | undefined): void {
    this.#runtime.setBuildError(module, html);
  }

  /**
   * Answers a request as a server would at the same URL, `/run/<module>/…` included, without a socket in between.
   *
   * Aborting the request's signal cancels it in the module, too.
   *
   * @throws TenonError `RESPONSE` when the module's answer breaks off
   * @throws the signal's reason when it is aborted
   */
  async fetch(request: Request): Promise<Response> {
    if (this.#calls === undefined) {
      // Loaded when it is wanted: Node's `Response` alone takes a fifth of the time in which a server starts.
      const { Calls } = await import("./calls.ts");
      this.#calls ??= new Calls(this.#runtime);
    }
    request.signal.throwIfAborted();
    if (request.body === null) return this.#calls.send(request, undefined);
    const body = Buffer.from(await request.arrayBuffer());
    request.signal.throwIfAborted();
    return this.#calls.send(request, body);
  }

  /**
   * Listens for HTTP.
   *
   * @throws TenonError `ADDRESS_IN_USE` or `LISTEN`
   */
  async listen(options: ListenOptions = {}): Promise<Listening> {
    const { host = "127.0.0.1", port = 0 } = options;
    const server = await fromNative(this.#runtime.listen(host, port), (code) =>
      code === "ADDRESS_IN_USE" ? "another program listens there; choose another port with --port" : undefined,
    );
    this.#servers.add(server);
    const shown = server.host.includes(":") ? `[${server.host}]` : server.host;
    return { host: server.host, port: server.port, url: `${this.#scheme}://${shown}:${server.port}` };
  }

  /** Stops listening, and resolves when running requests have finished or their time is over and all traces are sent. */
  async close(): Promise<void> {
    const servers = [...this.#servers];
    this.#servers.clear();
    await Promise.all(servers.map((server) => server.close()));
    await fromNative(this.#runtime.flush());
  }
}

/** Limits as the addon takes them, by their names in `tenon.toml`, and apart from the other options. */
function nativeOptions<T extends Limits>(options: T): Omit<T, keyof Limits> & { limits: Record<string, number> } {
  const others = { ...options } as Record<string, unknown>;
  const given: Record<string, number> = {};
  for (const name of Object.keys(limits)) {
    const option = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const value = others[option];
    if (typeof value === "number") given[name] = value;
    delete others[option];
  }
  return { ...(others as Omit<T, keyof Limits>), limits: given };
}
