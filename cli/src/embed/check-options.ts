/** The checks of a runtime's options. */
import { types } from "node:util";
import { TenonError } from "../errors.ts";
import { type Limits, limits } from "../limits.ts";
import { sidecarNamesProblem, sidecarProblem } from "../project/config/addresses.ts";
import { allowanceProblem, type ModuleBudget } from "../project/config/budgets.ts";
import { inProcessProblem } from "../project/config/in-process.ts";
import { camelCase, snakeCase } from "../project/config/key.ts";
import { sections } from "../project/config/keys.ts";
import { oneOf, text, textList, wholeNumber } from "../project/config/kinds.ts";
import { headerProblem, maskProblem } from "../project/config/masks.ts";
import { hostProblem, mountProblem } from "../project/config/mounts.ts";
import { isFile, isSource, whatSourcesAre } from "./module-source.ts";
import {
  check,
  checkKind,
  checkProblem,
  isRecord,
  type OptionCheck,
  type OptionChecks,
  problemsBelow,
  problemsOf,
  refuse,
  textsByName,
} from "./option-checks.ts";
import type { ListenOptions, ModuleOptions, RecordOptions, RuntimeOptions } from "./runtime-options.ts";

const { keys: server } = sections.server;
const { keys: recording } = sections.record;

/** The checks of the options of recording. */
const recordChecks: Readonly<Record<keyof RecordOptions, OptionCheck>> = {
  folder: checkProblem((given) => recording.folder.problem?.(given)),
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
const runtimeChecks: Readonly<Record<keyof RuntimeOptions, OptionCheck>> = {
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
    if (!isRecord(value)) return [`\`${path}\` must be an object of options, with \`folder\` at least`];
    const missing = value["folder"] === undefined ? [`\`${path}.folder\` is missing: it must be a string`] : [];
    return [...problemsBelow(path, value, recordChecks), ...missing];
  },
  ...(limitChecks(Object.entries(limits)) as Record<keyof Limits, OptionCheck>),
};

const ownLimits = Object.entries(limits).filter(([name, { ofModule }]) => ofModule || name === "max_concurrent");

/** The checks of a module's budget. */
const budgetChecks: Readonly<Record<keyof ModuleBudget, OptionCheck>> = {
  cpu: checkProblem(allowanceProblem("cpu")),
  calls: checkProblem(allowanceProblem("calls")),
  bytesOut: checkProblem(allowanceProblem("bytes_out")),
  memory: checkProblem(allowanceProblem("memory")),
  whenSpent: checkKind(oneOf("429", "503")),
  weight: checkKind(wholeNumber(1, 1000)),
};

/** The checks of a module's options. */
const moduleChecks: Readonly<Record<keyof ModuleOptions, OptionCheck>> = {
  source: check(whatSourcesAre, isSource),
  env: runtimeChecks.env,
  secrets: runtimeChecks.secrets,
  sidecars: runtimeChecks.sidecars,
  outbound: (path, value) =>
    isRecord(value)
      ? problemsBelow(path, value, { allow: runtimeChecks.outboundAllow })
      : [`\`${path}\` must be an object with the list \`allow\``],
  isolation: runtimeChecks.isolation,
  limits: (path, value) => {
    const checks = limitChecks(ownLimits);
    const home = (name: string) => (Object.hasOwn(runtimeChecks, name) ? "an option of `Runtime.create`" : undefined);
    return isRecord(value) ? problemsBelow(path, value, checks, home) : [`\`${path}\` must be an object of limits`];
  },
  mount: checkProblem(mountProblem),
  host: checkProblem(hostProblem),
  budget: (path, value) =>
    isRecord(value) ? problemsBelow(path, value, budgetChecks) : [`\`${path}\` must be an object of amounts`],
  verifyKey: runtimeChecks.verifyKey,
};

const listenChecks: Readonly<Record<keyof ListenOptions, OptionCheck>> = {
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
    throw new TenonError("CONFIG", "the options of `Runtime.create` must be an object, with `modules` at least");
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
 * Checks the options of a module.
 *
 * @throws TenonError `CONFIG`, as `nativeOptions`
 */
export function refuseWrongModule(name: string, module: ModuleOptions): void {
  refuse(checkModule(`modules.${name}`, module));
}

/**
 * Options of `listen`, with defaults.
 *
 * @throws TenonError `CONFIG`, as `nativeOptions`
 */
export function listenOptions(options: ListenOptions): Required<ListenOptions> {
  if (!isRecord(options as unknown))
    throw new TenonError("CONFIG", "the argument of `listen` must be an object { host, port }, or left out");
  refuse(
    problemsOf(options, listenChecks, (name) =>
      Object.hasOwn(runtimeChecks, name) ? "an option of `Runtime.create`" : undefined,
    ),
  );
  const { host = "127.0.0.1", port = 0, localNames = false, operations = false } = options;
  return { host, port, localNames, operations };
}

/** The address of a sidecar of this process. `InProcessSidecars` puts it in the place of its options. */
const PLACED = /^process:\d+$/;

function checkSidecars(path: string, value: unknown): string[] {
  if (!isRecord(value)) return [`\`${path}\` must be an object of addresses by the names of sidecars`];
  return Object.entries(value).flatMap(([name, sidecar]) => {
    if (!sections.sidecars.names.pattern.test(name))
      return [`\`${name}\` is not a name for \`${path}\`: ${sections.sidecars.names.description}`];
    const at = `\`${path}.${name}\``;
    if (typeof sidecar === "string") {
      const problem = PLACED.test(sidecar) ? undefined : sidecarProblem(sidecar, ":");
      return problem === undefined ? [] : [`${at} ${problem}`];
    }
    if (!isRecord(sidecar)) return [`${at} must be an address, or { run: "sql", url: "postgres://…" }`];
    if (sidecar["url"] === undefined) return [`${at} needs \`url\`: the store, or "env:NAME"`];
    if (sidecar["urlFile"] !== undefined) return [`${at} has the key \`urlFile\`, which is for tenon.toml alone`];
    const problem = inProcessProblem(sidecar, camelCase);
    return problem === undefined ? [] : [`${at} ${problem}`];
  });
}

/** The checks of limits, by the names of their options. */
function limitChecks(
  limits: readonly (readonly [name: string, { readonly min: number; readonly max: number }])[],
): OptionChecks {
  return Object.fromEntries(limits.map(([name, { min, max }]) => [camelCase(name), checkKind(wholeNumber(min, max))]));
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
  const home = (name: string) => {
    if (Object.hasOwn(budgetChecks, name)) return "a part of its `budget`";
    return Object.hasOwn(limits, snakeCase(name)) ? "one of its `limits`" : undefined;
  };
  const problems = problemsBelow(path, value, moduleChecks, home);
  if (value["source"] === undefined) problems.push(`\`${path}.source\` is missing: it must be ${whatSourcesAre}`);
  return problems;
}

function isTls(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { certificate, key, ...more } = value;
  return typeof certificate === "string" && typeof key === "string" && Object.keys(more).length === 0;
}
