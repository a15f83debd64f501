/** The options of a runtime as the addon takes them. */
import type { NativeModule, RuntimeOptions as NativeOptions, NativeRecord } from "@tenon/native";
import type { SECRET_PREFIX as SdkPrefix } from "@tenon/sdk/abi";
import { defaultCacheFolder } from "../cache-folder.ts";
import { type Limits, limits } from "../limits.ts";
import { sidecarNamesProblem } from "../project/config/addresses.ts";
import { nativeBudget } from "../project/config/budgets.ts";
import { camelCase } from "../project/config/key.ts";
import { sections } from "../project/config/keys.ts";
import { refuseWrongOptions } from "./check-options.ts";
import { isSource, nativeSource, pathOf } from "./module-source.ts";
import { isRecord, refuse } from "./option-checks.ts";
import type { ModuleOptions, RecordOptions, RuntimeOptions, Sidecars } from "./runtime-options.ts";

/** The prefix of secrets' names in a module's environment; `secret` of the SDK looks there. */
const SECRET_PREFIX: typeof SdkPrefix = "TENON_SECRET_";

const { keys: recording } = sections.record;

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
function nativeModule(
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
