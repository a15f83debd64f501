/** The limits of a sandbox: names, defaults and ranges. Code, documentation and tests read them from here. */

/** Limits of one evaluation. Each ends it with `{ kind: "limit", limit }`, where `limit` is its name. */
export interface SandboxLimits {
  /** Processor time in milliseconds, of the script and of the host's work for it. 1,000 when left out. */
  readonly cpuMs?: number;
  /** Time in milliseconds, waiting included. 30,000 when left out. */
  readonly wallMs?: number;
  /** Memory in bytes: the engine, the script and its values. 64 MiB when left out. */
  readonly memoryBytes?: number;
  /** Calls of tools and other outbound calls. 100 when left out. */
  readonly calls?: number;
  /** Bytes of the value. 1 MiB when left out. */
  readonly outputBytes?: number;
  /** Bytes of the log; a line counts 16 bytes more than its text. 64 KiB when left out. */
  readonly logBytes?: number;
  /** Bytes of the source in UTF-8. 1 MiB when left out. */
  readonly sourceBytes?: number;
  /** Steps of one run of a regular expression; a character that does not match is one. 20,000,000 when left out. */
  readonly regexSteps?: number;
  /** Calls of tools that run at once; further ones wait. 16 when left out. It ends no evaluation. */
  readonly concurrentCalls?: number;
}

interface Limit {
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const HOUR = 3_600_000;

export const sandboxLimits: Readonly<Record<keyof SandboxLimits, Limit>> = {
  cpuMs: { default: 1_000, min: 1, max: HOUR },
  wallMs: { default: 30_000, min: 1, max: HOUR },
  memoryBytes: { default: 64 * MIB, min: 4 * MIB, max: 4 * KIB * MIB },
  calls: { default: 100, min: 0, max: 100_000 },
  outputBytes: { default: MIB, min: 0, max: KIB * MIB },
  logBytes: { default: 64 * KIB, min: 0, max: KIB * MIB },
  sourceBytes: { default: MIB, min: 0, max: 64 * MIB },
  regexSteps: { default: 20_000_000, min: 10_000, max: 1_000_000_000_000 },
  concurrentCalls: { default: 16, min: 1, max: 10_000 },
};

/** The limits that an answer may name: `stack` is the engine's own, and `host` one of the runtime's. */
export type SandboxLimitName = Exclude<keyof SandboxLimits, "concurrentCalls"> | "stack" | "host";

/** Returns all limits, with defaults for those that are left out. */
export function wholeLimits(given: SandboxLimits): Required<SandboxLimits> {
  const entries = Object.entries(sandboxLimits) as [keyof SandboxLimits, Limit][];
  return Object.fromEntries(entries.map(([name, limit]) => [name, given[name] ?? limit.default])) as never;
}

/** Describes the wrong limits. */
export function limitProblems(given: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const limit = Object.hasOwn(sandboxLimits, name) ? sandboxLimits[name as keyof SandboxLimits] : undefined;
    if (limit === undefined)
      return [`unknown limit \`limits.${name}\`; known are ${Object.keys(sandboxLimits).join(", ")}`];
    if (value === undefined) return [];
    const { min, max } = limit;
    const isRight = typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
    return isRight ? [] : [`\`limits.${name}\` must be a whole number from ${min} to ${max}`];
  });
}
