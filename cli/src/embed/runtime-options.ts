/** The options of a runtime: their types. `check-options.ts` checks them, and `native-options.ts` converts them for the addon. */
import type { Limits, ModuleLimit } from "../limits.ts";
import type { ModuleBudget } from "../project/config/budgets.ts";
import type { CamelCase } from "../project/config/key.ts";
import type { LogRecord } from "./log.ts";
import type { ModuleFile, ModuleSource } from "./module-source.ts";
import type { SidecarKind, SidecarOptions } from "./sidecar.ts";

/** Options of a `Runtime`, including its limits. */
export interface RuntimeOptions extends Limits {
  /**
   * Component files, paths or `file:` URLs, each called after its file without `.wasm` and `-composed`; or files, bytes or
   * {@link ModuleOptions}, by the names to call them. A reference such as `oci://registry.example/team/shop:1.0` stands for a
   * path as well: it is pulled first.
   */
  readonly modules: readonly (string | URL)[] | Readonly<Record<string, ModuleSource | ModuleOptions>>;
  /**
   * Sidecars by name: addresses, `http://host:port` or `unix:///path`, or {@link InProcessSidecar}s, which the runtime starts and
   * closes.
   */
  readonly sidecars?: Sidecars;
  /**
   * Hosts that modules may call besides: `host`, `host:port`, or either after `http://` or `https://`. A name that
   * resolves to a private address is refused unless that address is listed as well, with the port that is called.
   */
  readonly outboundAllow?: readonly string[];
  /** Environment variables that every module sees. Nothing of the process's own environment is added. */
  readonly env?: Readonly<Record<string, string>>;
  /** Secrets of the modules by name, read with `secret(name)`. Each is in no log, error or document. */
  readonly secrets?: Readonly<Record<string, string>>;
  /**
   * The state that requests to one module share: nothing (`request`, the default), or instances, one request after
   * another (`shared`): faster, but a request may see the memory that an earlier one left.
   */
  readonly isolation?: "request" | "shared";
  /** The files of a certificate with its chain and of its key, in PEM; `listen` serves HTTPS then. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /**
   * True when files that `tenon compile` wrote (`.cwasm`) are loaded; false when left out. They are machine code, which
   * no sandbox bounds: say true if you have compiled each of them, and nobody else can write to them.
   */
  readonly trustCompiled?: boolean;
  /** File of a public key in PEM. A component from a registry must have a signature by it; files are not checked. */
  readonly verifyKey?: ModuleFile;
  /** The folder of compiled code; false compiles anew each time. The user's cache folder when left out. */
  readonly cacheFolder?: string | false;
  /**
   * The level of lines logged to standard error, or to `onLog`; `warn` by default. The first runtime of a process
   * without `onLog` decides for all such runtimes.
   */
  readonly logLevel?: "off" | "error" | "warn" | "info" | "debug";
  /** The format on standard error; `readable` when left out. The first runtime of a process decides. */
  readonly logFormat?: "readable" | "json";
  /**
   * Gets each record of the log, in the place of standard error. The log is that of the process: with several runtimes, each
   * function gets the records of all. Records wait for Node's thread, and nothing waits for the function; when some 2,000 wait,
   * further ones are dropped, and a record tells how many.
   */
  readonly onLog?: (record: LogRecord) => void;
  /** True when each request is a line in the log, whatever the level. */
  readonly accessLog?: boolean;
  /**
   * Where traces are sent: `http://host:port` or `https://host:port` of an OpenTelemetry collector that takes OTLP over
   * HTTP. None are sent when left out.
   */
  readonly otlpEndpoint?: string;
  /**
   * Proxies in front of the server, by address (`10.0.0.7`) or network (`10.0.0.0/8`). Their `X-Forwarded-*` headers are
   * believed; those of other clients are not. None unless given.
   */
  readonly trustedProxies?: readonly string[];
  /** Records requests, which `tenon replay` runs again. None unless given. */
  readonly record?: RecordOptions;
}

/** Which requests are recorded, and where. */
export interface RecordOptions {
  /** The folder of recordings. Only this user may read it. */
  readonly folder: string;
  /** The share of all requests that is recorded, from 0 to 1; 0 when left out. */
  readonly share?: number;
  /** True, the default, when requests that failed are recorded: 500, 504 and traps. */
  readonly failures?: boolean;
  /** Milliseconds: records requests that took as long. */
  readonly slowMs?: number;
  /** A header by which a trusted proxy, or this program, asks for a recording. */
  readonly header?: string;
  /** Bytes of all recordings together; 1 GiB when left out. The oldest are removed. */
  readonly maxBytes?: number;
  /** Milliseconds: recordings that are older are removed. */
  readonly maxAgeMs?: number;
  /** Names of headers, JSON pointers such as `#/card/number`, and query parameters such as `?token`, whose values are replaced by placeholders. */
  readonly mask?: readonly string[];
}

/**
 * A sidecar in the runtime's process: `{ run: "sql", url: "env:DATABASE_URL" }`. Modules call it as one on a socket, and see none of
 * its credentials. Those that are defined alike are one, with one pool of connections.
 */
export interface InProcessSidecar extends Omit<SidecarOptions, "kind" | "listen" | "token" | "logLevel" | "logFormat"> {
  readonly run: SidecarKind;
  /** The store, as in {@link SidecarOptions}, or `env:` and the name of the variable of this process that has it. */
  readonly url: string;
}

/** Sidecars by name. */
export type Sidecars = Readonly<Record<string, string | InProcessSidecar>>;

/**
 * A component with a policy of its own. A part that is left out is the runtime's; one that is given takes the place of the
 * runtime's as a whole. No module sees a part of another's.
 */
export interface ModuleOptions {
  /** The component's file, or its bytes, which are copied. */
  readonly source: ModuleSource;
  /** Its environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its secrets by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Its sidecars by name, as those of the runtime. */
  readonly sidecars?: Sidecars;
  /** The hosts that it may call besides, as in `outboundAllow`. */
  readonly outbound?: { readonly allow?: readonly string[] };
  /** The state that its requests share. */
  readonly isolation?: "request" | "shared";
  /** Its limits. */
  readonly limits?: ModuleLimits;
  /** File of a public key in PEM, as the runtime's, for a component from a registry. */
  readonly verifyKey?: ModuleFile;
  /**
   * The path below which it is served besides `/run/<module>`: `/shop`, or `/`. The longest that fits a path counts;
   * `/run`, `/health`, `/ready` and `/metrics` stay the runtime's. `req.base` of the SDK is the mount.
   */
  readonly mount?: string;
  /**
   * The host name for which it is served, without a port; at `/` when there is no `mount`. It takes precedence over a
   * mount without a host.
   */
  readonly host?: string;
  /** Bounds of the use of its requests together, each in a period. Requests are refused while one is spent. */
  readonly budget?: ModuleBudget;
}

/** The limits of a module. `maxBodyBytes` and `maxResponseBytes` are at most the runtime's. */
export interface ModuleLimits extends Pick<Limits, CamelCase<ModuleLimit>> {
  /** Running requests of the module, at most the runtime's value; further ones wait in the module's share of the queue. */
  readonly maxConcurrent?: number;
}

/** The address to listen on; 127.0.0.1 and a free port when left out. */
export interface ListenOptions {
  readonly host?: string;
  readonly port?: number;
  /**
   * True when requests must name this machine (`127.0.0.1`, `localhost` and such), where the address is a loopback one;
   * false when left out. It keeps out pages whose own name leads here (DNS rebinding).
   */
  readonly localNames?: boolean;
  /**
   * True when it answers `/metrics`, `/health` and `/ready` alone, without TLS, for those that watch over the server;
   * false when left out. The runtime's other addresses answer 404 for `/metrics` from then on.
   */
  readonly operations?: boolean;
}
