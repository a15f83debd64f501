import type { Runtime as NativeRuntime, Server as NativeServer } from "@tenon/native";
import { defaultCacheFolder } from "./cache-folder.ts";
import { fromNative, native } from "./native.ts";

/** What a {@link Runtime} is told. */
export interface RuntimeOptions {
  /** Component files. A module is called after its file, without `.wasm` and `-composed`. */
  readonly modules: readonly string[];
  /** Addresses of sidecars by name: `http://host:port` or `unix:///path`. */
  readonly sidecars?: Readonly<Record<string, string>>;
  /** Environment variables that every module sees. Nothing of the process's own environment is added. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where compiled code is kept; false compiles anew each time. The user's cache folder when left out. */
  readonly cacheFolder?: string | false;
  /** What is logged to standard error; `warn` when left out. The first runtime of a process decides. */
  readonly logLevel?: "off" | "error" | "warn" | "info" | "debug";
  /** Milliseconds until a request is answered with 504. */
  readonly requestTimeoutMs?: number;
  /** Bytes of a request's body; more is answered with 413. */
  readonly maxBodyBytes?: number;
  /** Bytes that each linear memory may grow to. */
  readonly memoryLimitBytes?: number;
  /** Requests that run at once; one more waits, and is answered with 503 when that takes too long. */
  readonly maxConcurrent?: number;
  /** Milliseconds that running requests have to finish on `close`. */
  readonly shutdownTimeoutMs?: number;
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
  readonly #servers = new Set<NativeServer>();

  private constructor(runtime: NativeRuntime) {
    this.#runtime = runtime;
  }

  /**
   * Loads modules; one whose code is not cached is compiled first, which takes seconds, on threads of its own.
   *
   * @throws TenonError `CONFIG`, `ENGINE`, `MODULE_READ`, `MODULE_COMPILE` or `MODULE_LINK`
   */
  static async create(options: RuntimeOptions): Promise<Runtime> {
    const { modules, cacheFolder = defaultCacheFolder(), logLevel = "warn", sidecars, env, ...limits } = options;
    const created = native().Runtime.create({
      ...limits,
      modules: [...modules],
      logLevel,
      ...(sidecars === undefined ? {} : { sidecars: { ...sidecars } }),
      ...(env === undefined ? {} : { env: { ...env } }),
      ...(cacheFolder === false ? {} : { cacheDir: cacheFolder }),
    });
    return new Runtime(await fromNative(created));
  }

  /** The names of the modules, sorted. */
  get modules(): string[] {
    return this.#runtime.modules();
  }

  /**
   * Answers a request as a server would at the same URL, `/run/<module>/…` included, without a socket in between.
   *
   * @throws TenonError `RESPONSE` when the module's answer breaks off
   */
  async fetch(request: Request): Promise<Response> {
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const headers = [...request.headers];
    // Fetch keeps the host in the URL; HTTP wants it as a header.
    if (!request.headers.has("host")) headers.unshift(["host", new URL(request.url).host]);
    const answer = await fromNative(
      this.#runtime.handle({
        method: request.method,
        url: request.url,
        headers,
        ...(body === undefined ? {} : { body }),
      }),
    );
    const bodiless = answer.status === 204 || answer.status === 205 || answer.status === 304;
    return new Response(bodiless ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answer.headers as [string, string][],
    });
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
    return { host: server.host, port: server.port, url: `http://${shown}:${server.port}` };
  }

  /** Stops listening, and resolves when running requests have finished or their time is over. */
  async close(): Promise<void> {
    const servers = [...this.#servers];
    this.#servers.clear();
    await Promise.all(servers.map((server) => server.close()));
  }
}
