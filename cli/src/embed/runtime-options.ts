/** The options of a runtime: their types, their checks, and their conversion for the addon. */
import { types } from "node:util";
import type { NativeModule, RuntimeOptions as NativeOptions, NativeRecord } from "@tenon/native";
import type { SECRET_PREFIX as SdkPrefix } from "@tenon/sdk/abi";
import { defaultCacheFolder } from "../cache-folder.ts";
import { TenonError } from "../errors.ts";
import { type Limits, limits, type ModuleLimit } from "../limits.ts";
import { nearest } from "../nearest.ts";
import { sidecarNamesProblem } from "../project/config/addresses.ts";
import { allowanceProblem, type ModuleBudget, nativeBudget } from "../project/config/budgets.ts";
import { inProcessProblem } from "../project/config/in-process.ts";
import { type CamelCase, camelCase } from "../project/config/key.ts";
import { sections } from "../project/config/keys.ts";
import { type Kind, oneOf, text, textList, wholeNumber } from "../project/config/kinds.ts";
import { headerProblem, maskProblem } from "../project/config/masks.ts";
import { hostProblem, mountProblem } from "../project/config/mounts.ts";
import type { LogRecord } from "./log.ts";
import {
  isFile,
  isSource,
  isUrl,
  type ModuleFile,
  type ModuleSource,
  nativeSource,
  pathOf,
  whatSourcesAre,
} from "./module-source.ts";
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
   * Hosts that modules may call besides: `host`, `host:port`, or either behind `http://` or `https://`. A name that
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
  /** Where compiled code is kept; false compiles anew each time. The user's cache folder when left out. */
  readonly cacheFolder?: string | false;
  /**
   * The level of lines logged to standard error, or to `onLog`; `warn` by default. The first runtime of a process
   * without `onLog` decides for all such runtimes.
   */
  readonly logLevel?: "off" | "error" | "warn" | "info" | "debug";
  /** How it is logged to standard error; `readable` when left out. The first runtime of a process decides. */
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
  /** Names of headers, and JSON pointers such as `#/card/number`, whose values are replaced by placeholders. */
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

/** Where to listen; 127.0.0.1 and a free port when left out. */
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

/** The prefix of secrets' names in a module's environment; `secret` of the SDK looks there. */
const SECRET_PREFIX: typeof SdkPrefix = "TENON_SECRET_";

/** Checks the value of an option; `path` is its name. The value is not repeated, because it may be a secret. */
type Check = (path: string, value: unknown) => string[];

type Checks = Readonly<Record<string, Check>>;

const { keys: server } = sections.server;
const { keys: recording } = sections.record;

/** The checks of the options of recording. */
const recordChecks: Readonly<Record<keyof RecordOptions, Check>> = {
  folder: checkKind(recording.folder.kind),
  share: checkKind(recording.share.kind),
  failures: checkKind(recording.failures.kind),
  slowMs: checkKind(recording.slow_ms.kind),
  header: checkProblem(headerProblem),
  maxBytes: checkKind(recording.max_bytes.kind),
  maxAgeMs: checkKind(recording.max_age_ms.kind),
  mask: (path, value) => {
    const entries = recording.mask.kind.read(value);
    const problem = entries === undefined ? `must be ${recording.mask.kind.description}` : maskProblem(entries);
    return problem === undefined ? [] : [`\`${path}\` ${problem}`];
  },
};

/** The checks of the options of `Runtime.create`. The addon checks addresses and hosts. */
const runtimeChecks: Readonly<Record<keyof RuntimeOptions, Check>> = {
  modules: checkModules,
  sidecars: checkSidecars,
  outboundAllow: checkKind(textList),
  env: textsByName("an object of texts by the names of variables", sections.env.names),
  secrets: textsByName("an object of texts by the names of secrets", sections.secrets.names),
  isolation: checkKind(server.isolation.kind),
  tls: check("an object with the paths `certificate` and `key`", isTls),
  cacheFolder: check("a string or false", (value) => typeof value === "string" || value === false),
  trustCompiled: checkKind(server.trust_compiled.kind),
  verifyKey: check("a path or a file: URL", isFile),
  logLevel: checkKind(oneOf("off", "error", "warn", "info", "debug")),
  logFormat: checkKind(server.log_format.kind),
  onLog: check("a function", (value) => typeof value === "function"),
  accessLog: checkKind(server.access_log.kind),
  otlpEndpoint: checkKind(server.otlp_endpoint.kind),
  trustedProxies: checkKind(textList),
  record: (path, value) => {
    const checks = Object.fromEntries(
      Object.entries(recordChecks).map(([name, check]): [string, Check] => [
        name,
        (_, given) => check(`${path}.${name}`, given),
      ]),
    );
    if (!isRecord(value)) return [`\`${path}\` must be an object of options, with \`folder\` at least`];
    const missing = value["folder"] === undefined ? [`\`${path}.folder\` is missing: it must be a string`] : [];
    return [...problemsOf(value, checks, () => undefined), ...missing];
  },
  ...(Object.fromEntries(
    Object.entries(limits).map(([name, { min, max }]) => [camelCase(name), checkKind(wholeNumber(min, max))]),
  ) as Record<keyof Limits, Check>),
};

const ownLimits = Object.entries(limits).filter(([name, { ofModule }]) => ofModule || name === "max_concurrent");

/** The checks of a module's budget. */
const budgetChecks: Readonly<Record<keyof ModuleBudget, Check>> = {
  cpu: checkProblem(allowanceProblem("cpu")),
  calls: checkProblem(allowanceProblem("calls")),
  bytesOut: checkProblem(allowanceProblem("bytes_out")),
  memory: checkProblem(allowanceProblem("memory")),
  whenSpent: checkKind(oneOf("429", "503")),
  weight: checkKind(wholeNumber(1, 1000)),
};

/** The checks of a module's options. */
const moduleChecks: Readonly<Record<keyof ModuleOptions, Check>> = {
  source: check(whatSourcesAre, isSource),
  env: runtimeChecks.env,
  secrets: runtimeChecks.secrets,
  sidecars: runtimeChecks.sidecars,
  outbound: (path, value) =>
    isRecord(value)
      ? problemsOf(value, { allow: (_, hosts) => runtimeChecks.outboundAllow(`${path}.allow`, hosts) }, () => undefined)
      : [`\`${path}\` must be an object with the list \`allow\``],
  isolation: runtimeChecks.isolation,
  limits: (path, value) => {
    const checks = Object.fromEntries(
      ownLimits.map(([name, { min, max }]): [string, Check] => {
        const option = camelCase(name);
        return [option, (_, given) => checkKind(wholeNumber(min, max))(`${path}.${option}`, given)];
      }),
    );
    const home = (name: string) => (Object.hasOwn(runtimeChecks, name) ? "an option of `Runtime.create`" : undefined);
    return isRecord(value) ? problemsOf(value, checks, home) : [`\`${path}\` must be an object of limits`];
  },
  mount: checkProblem(mountProblem),
  host: checkProblem(hostProblem),
  budget: (path, value) => {
    const checks = Object.fromEntries(
      Object.entries(budgetChecks).map(([name, check]): [string, Check] => [
        name,
        (_, given) => check(`${path}.${name}`, given),
      ]),
    );
    return isRecord(value) ? problemsOf(value, checks, () => undefined) : [`\`${path}\` must be an object of amounts`];
  },
  verifyKey: runtimeChecks.verifyKey,
};

const listenChecks: Readonly<Record<keyof ListenOptions, Check>> = {
  host: checkKind(text),
  port: checkKind(server.port.kind),
  localNames: checkKind(server.access_log.kind),
  operations: checkKind(server.access_log.kind),
};

/**
 * Checks the options of `Runtime.create`.
 *
 * @throws TenonError `CONFIG`, naming every option that is unknown, missing or of the wrong kind
 */
export function refuseWrongOptions(options: RuntimeOptions): void {
  if (!isRecord(options as unknown)) {
    throw new TenonError("CONFIG", "`Runtime.create` takes an object of options, with `modules` at least");
  }
  const problems = problemsOf(options, runtimeChecks, (name) =>
    Object.hasOwn(listenChecks, name) ? "an option of `listen`" : undefined,
  );
  if (options.modules === undefined) problems.push(`\`modules\` is missing: it must be ${whatModulesAre}`);
  refuse(problems);
  const together = sidecarNamesProblem(Object.keys(options.sidecars ?? {}));
  if (together !== undefined) refuse([`sidecars: ${together}`]);
}

/**
 * Options of `Runtime.create` as the addon takes them, with addresses in the places of sidecars in this process. @internal
 *
 * @throws TenonError `CONFIG`, naming every option that is unknown, missing or of the wrong kind
 */
export function nativeOptions(options: RuntimeOptions): NativeOptions {
  refuseWrongOptions(options);
  const { modules, cacheFolder = defaultCacheFolder(), logLevel = "warn", onLog, ...rest } = options;
  const { sidecars, env, secrets, outboundAllow, trustedProxies, record, verifyKey: _verifyKey, ...others } = rest;
  return {
    ...withLimits(others),
    modules: Array.isArray(modules)
      ? modules.map((file) => ({ path: pathOf(file) }))
      : Object.entries(modules as Exclude<typeof modules, readonly unknown[]>).map(([name, module]) =>
          isSource(module) ? { name, ...nativeSource(module) } : nativeModule(name, module, options),
        ),
    ...(onLog === undefined ? { logLevel } : {}),
    ...(sidecars === undefined ? {} : { sidecars: addressesOf(sidecars) }),
    ...(env === undefined && secrets === undefined ? {} : { env: environmentOf(env, secrets) }),
    ...(outboundAllow === undefined ? {} : { outboundAllow: [...outboundAllow] }),
    ...(trustedProxies === undefined ? {} : { trustedProxies: [...trustedProxies] }),
    ...(record === undefined ? {} : { record: nativeRecord(record) }),
    ...(cacheFolder === false ? {} : { cacheDir: cacheFolder }),
  };
}

/** The options of recording as the addon takes them. */
function nativeRecord({
  folder,
  share = recording.share.default ?? 0,
  failures = recording.failures.default ?? true,
  maxBytes = recording.max_bytes.default ?? 0,
  mask = [],
  ...more
}: RecordOptions): NativeRecord {
  return { folder, share, failures, maxBytes, mask: [...mask], ...more };
}

/**
 * Checks the options of a module.
 *
 * @throws TenonError `CONFIG`, as `nativeOptions`
 */
export function refuseWrongModule(name: string, module: ModuleOptions): void {
  refuse(checkModule(`modules.${name}`, module));
}

/**
 * All modules with their complete policies, including the server's parts. Limits of the server that a module cannot
 * have are left out, because they stay the same while it runs. @internal
 *
 * @throws TenonError `CONFIG`, as `nativeOptions`
 */
export function wholeModules(options: RuntimeOptions): NativeModule[] {
  const { modules, limits: server = {}, ...native } = nativeOptions(options);
  const inherited = Object.entries(limits).flatMap(([name, { ofModule, default: value }]) =>
    ofModule ? [[name, server[name] ?? value] as const] : [],
  );
  return modules.map(({ policy = {}, ...module }) => ({
    ...module,
    policy: {
      sidecars: native.sidecars ?? {},
      outboundAllow: native.outboundAllow ?? [],
      env: native.env ?? {},
      isolation: native.isolation ?? "request",
      ...policy,
      limits: { ...Object.fromEntries(inherited), ...policy.limits },
    },
  }));
}

/**
 * A module with its policy as the addon takes it, with addresses in the places of sidecars in this process. @internal
 *
 * @param server the runtime's options, of which variables and secrets are inherited one without the other
 * @throws TenonError `CONFIG`, as `nativeOptions`
 */
export function nativeModule(
  name: string,
  { source, env, secrets, sidecars, outbound, isolation, limits: own = {}, mount, host, budget }: ModuleOptions,
  server: Pick<RuntimeOptions, "env" | "secrets">,
): NativeModule {
  const together = sidecarNamesProblem(Object.keys(sidecars ?? {}));
  if (together !== undefined) refuse([`modules.${name}.sidecars: ${together}`]);
  const inherits = env === undefined && secrets === undefined;
  const { limits: given } = withLimits(own);
  return {
    name,
    ...nativeSource(source),
    policy: {
      limits: given,
      ...(inherits ? {} : { env: environmentOf(env ?? server.env, secrets ?? server.secrets) }),
      ...(sidecars === undefined ? {} : { sidecars: addressesOf(sidecars) }),
      ...(outbound === undefined ? {} : { outboundAllow: [...(outbound.allow ?? [])] }),
      ...(isolation === undefined ? {} : { isolation }),
      ...(mount === undefined ? {} : { mount }),
      ...(host === undefined ? {} : { host }),
      ...(budget === undefined ? {} : { budget: nativeBudget(budget) }),
    },
  };
}

/** Reports whether a module's options have sidecars of its own. */
export function hasOwnSidecars(module: unknown): module is { readonly sidecars: Sidecars } {
  return isRecord(module) && module["sidecars"] !== undefined;
}

/** The addresses of sidecars. One in this process has got its own before. */
function addressesOf(sidecars: Sidecars): Record<string, string> {
  return { ...(sidecars as Readonly<Record<string, string>>) };
}

/** The environment of modules: variables, and secrets under names that `env` of the SDK does not find. */
export function environmentOf(
  env: RuntimeOptions["env"],
  secrets: RuntimeOptions["secrets"] = {},
): Record<string, string> {
  const hidden = Object.entries(secrets).map(([name, value]) => [SECRET_PREFIX + name, value]);
  return { ...env, ...Object.fromEntries(hidden) };
}

/**
 * Options of `listen`, with defaults.
 *
 * @throws TenonError `CONFIG`, as `nativeOptions`
 */
export function listenOptions(options: ListenOptions): Required<ListenOptions> {
  if (!isRecord(options as unknown))
    throw new TenonError("CONFIG", "`listen` takes an object: { host, port }, or nothing");
  refuse(
    problemsOf(options, listenChecks, (name) =>
      Object.hasOwn(runtimeChecks, name) ? "an option of `Runtime.create`" : undefined,
    ),
  );
  const { host = "127.0.0.1", port = 0, localNames = false, operations = false } = options;
  return { host, port, localNames, operations };
}

/** Limits as the addon takes them, by their names in `tenon.toml`, and apart from the other options. */
function withLimits<T extends Limits>(options: T): Omit<T, keyof Limits> & { limits: Record<string, number> } {
  const others = { ...options } as Record<string, unknown>;
  const given: Record<string, number> = {};
  for (const name of Object.keys(limits)) {
    const option = camelCase(name);
    const value = others[option];
    if (typeof value === "number") given[name] = value;
    delete others[option];
  }
  return { ...(others as Omit<T, keyof Limits>), limits: given };
}

function problemsOf(options: object, checks: Checks, home: (name: string) => string | undefined): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const known = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (known !== undefined) return value === undefined ? [] : known(name, value);
    const other = home(name);
    if (other !== undefined) return [`unknown option \`${name}\`; it is ${other}`];
    const near = nearest(name, Object.keys(checks));
    const rest = near === undefined ? `known are ${Object.keys(checks).join(", ")}` : `did you mean \`${near}\`?`;
    return [`unknown option \`${name}\`; ${rest}`];
  });
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new TenonError("CONFIG", problems.join("\n"));
}

function check(description: string, fits: (value: unknown) => boolean): Check {
  return (path, value) => (fits(value) ? [] : [`\`${path}\` must be ${description}`]);
}

function checkKind({ description, read }: Kind<unknown>): Check {
  return check(description, (value) => read(value) !== undefined);
}

function textsByName(description: string, names?: { readonly pattern: RegExp; readonly description: string }): Check {
  const each = checkKind(text);
  return (path, value) => {
    if (!isRecord(value)) return [`\`${path}\` must be ${description}`];
    return Object.entries(value).flatMap(([name, given]) =>
      names?.pattern.test(name) === false
        ? [`\`${name}\` is not a name for \`${path}\`: ${names.description}`]
        : each(`${path}.${name}`, given),
    );
  };
}

function checkSidecars(path: string, value: unknown): string[] {
  if (!isRecord(value)) return [`\`${path}\` must be an object of addresses by the names of sidecars`];
  return Object.entries(value).flatMap(([name, sidecar]) => {
    if (typeof sidecar === "string") return [];
    const at = `\`${path}.${name}\``;
    if (!isRecord(sidecar)) return [`${at} must be an address, or { run: "sql", url: "postgres://…" }`];
    if (sidecar["url"] === undefined) return [`${at} needs \`url\`: the store, or "env:NAME"`];
    if (sidecar["urlFile"] !== undefined) return [`${at} has the key \`urlFile\`, which is for tenon.toml alone`];
    const problem = inProcessProblem(sidecar, camelCase);
    return problem === undefined ? [] : [`${at} ${problem}`];
  });
}

const whatModulesAre = "a list of component files, or an object of files by the names to call them";

function checkModules(path: string, value: unknown): string[] {
  if (Array.isArray(value)) {
    const file = check("a path or a file: URL", isFile);
    return [...value.entries()].flatMap(([index, each]) =>
      types.isUint8Array(each)
        ? [`\`${path}[${index}]\` has no name: give bytes as \`modules: { name: bytes }\``]
        : file(`${path}[${index}]`, each),
    );
  }
  const each = check(whatSourcesAre, isSource);
  if (!isRecord(value)) return [`\`${path}\` must be ${whatModulesAre}`];
  return Object.entries(value).flatMap(([name, file]) =>
    isRecord(file) ? checkModule(`${path}.${name}`, file) : each(`${path}.${name}`, file),
  );
}

function checkModule(path: string, value: unknown): string[] {
  if (!isRecord(value)) return [`\`${path}\` must be an object of options, with \`source\` at least`];
  const checks = Object.fromEntries(
    Object.entries(moduleChecks).map(([name, check]): [string, Check] => [
      name,
      (_, given) => check(`${path}.${name}`, given),
    ]),
  );
  const home = (name: string) => (Object.hasOwn(limits, snakeCase(name)) ? "one of its `limits`" : undefined);
  const problems = problemsOf(value, checks, home).map((problem) =>
    problem.startsWith("unknown option") ? `${path}: ${problem}` : problem,
  );
  if (value["source"] === undefined) problems.push(`\`${path}.source\` is missing: it must be ${whatSourcesAre}`);
  return problems;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A check of a text by a rule of `tenon.toml`. */
function checkProblem(problemOf: (text: string) => string | undefined): Check {
  return (path, value) => {
    const problem = typeof value === "string" ? problemOf(value) : "must be a string";
    return problem === undefined ? [] : [`\`${path}\` ${problem}`];
  };
}

function isTls(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { certificate, key, ...more } = value;
  return typeof certificate === "string" && typeof key === "string" && Object.keys(more).length === 0;
}

/** Reports whether a value is an object whose properties are its content, unlike lists, maps and URLs. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value) && !isUrl(value);
}
