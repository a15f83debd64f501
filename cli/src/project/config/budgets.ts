/** Budgets of modules: amounts for a period, such as `10 s / minute`. */
import { nearest } from "../../nearest.ts";

/** The parts of a budget, by their keys in `tenon.toml`. */
export type BudgetPart = "cpu" | "calls" | "bytes_out" | "memory";

/** An amount for each period, as the addon takes it. */
export interface Allowance {
  /** Microseconds, calls, bytes or byte seconds. */
  readonly amount: number;
  readonly periodMs: number;
}

const bytes = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** The units of each part, and the factor of each to the addon's unit. */
const units: Readonly<Record<BudgetPart, Readonly<Record<string, number>>>> = {
  cpu: { ms: 1e3, s: 1e6, min: 60e6, h: 3600e6 },
  calls: { "": 1 },
  bytes_out: bytes,
  memory: Object.fromEntries(Object.entries(bytes).map(([unit, factor]) => [`${unit} s`, factor])),
};

const periods = { second: 1e3, minute: 60e3, hour: 3600e3, day: 86_400e3 };

const examples: Readonly<Record<BudgetPart, string>> = {
  cpu: "10 s / minute",
  calls: "1000 / minute",
  bytes_out: "1 GiB / hour",
  memory: "100 GiB s / hour",
};

/** An amount with its unit, and a period. */
const FORM = /^([0-9]{1,15}(?:\.[0-9]{1,6})?) *([A-Za-z]*(?: s)?) *\/ *([a-z]+)$/;

/** Reads a part of a budget, or returns the reason why that is none. */
export function readAllowance(part: BudgetPart, text: string): Allowance | string {
  const [, number = "", unit = "", period = ""] = FORM.exec(text) ?? [];
  if (number === "") return `must be an amount for a period, such as "${examples[part]}"`;
  const known = units[part];
  if (!Object.hasOwn(known, unit)) {
    if (part === "calls") return `must have no unit, such as "${examples.calls}"`;
    const near = nearest(unit, Object.keys(known));
    const hint = near === undefined ? `such as "${examples[part]}"` : `did you mean \`${near}\`?`;
    return `must have one of the units ${Object.keys(known).join(", ")}; ${hint}`;
  }
  if (!Object.hasOwn(periods, period)) return `must be for a ${listed(Object.keys(periods))}, not for a "${period}"`;
  const amount = Math.round(Number(number) * (known[unit] as number));
  if (amount < 1) return "must be more than nothing";
  if (!Number.isSafeInteger(amount)) return "must be a smaller amount";
  if (part === "calls" && number.includes(".")) return "must be a whole number of calls";
  return { amount, periodMs: periods[period as keyof typeof periods] };
}

/** Returns a function for the reason why a text is not such a part; undefined for a valid one. */
export function allowanceProblem(part: BudgetPart): (text: string) => string | undefined {
  return (text) => {
    const read = readAllowance(part, text);
    return typeof read === "string" ? read : undefined;
  };
}

/** {@link allowanceProblem} in JSON Schema, which does not hold the amounts to their bounds. */
export function allowanceRule(part: BudgetPart): { readonly pattern: string } {
  const number = part === "calls" ? "[0-9]{1,15}" : "[0-9]{1,15}(?:\\.[0-9]{1,6})?";
  return {
    pattern: `^${number} *(?:${Object.keys(units[part]).join("|")}) *\\/ *(?:${Object.keys(periods).join("|")})$`,
  };
}

/** A module's budget by the keys of its options. */
export interface ModuleBudget {
  /** Processor time: `10 s / minute`. Units are `ms`, `s`, `min` and `h`. */
  readonly cpu?: string;
  /** Outbound calls: `1000 / minute`. */
  readonly calls?: string;
  /** Bytes of responses and of outbound calls: `1 GiB / hour`. Units are `B`, `KiB`, `MiB`, `GiB` and `TiB`. */
  readonly bytesOut?: string;
  /** Memory of running requests over time: `100 GiB s / hour`. */
  readonly memory?: string;
  /** The status of the answer while a part is spent; `429` when left out. */
  readonly whenSpent?: "429" | "503";
  /** Its share of the processors while other modules compute as well: 2 is twice that of 1, which is the value when left out. */
  readonly weight?: number;
}

/** A budget as the addon takes it. Its parts must have been checked. */
export function nativeBudget({ cpu, calls, bytesOut, memory, whenSpent, weight }: ModuleBudget) {
  return {
    ...allowance("cpu", "cpu", cpu),
    ...allowance("calls", "calls", calls),
    ...allowance("bytesOut", "bytes_out", bytesOut),
    ...allowance("memory", "memory", memory),
    ...(whenSpent === undefined ? {} : { whenSpent }),
    ...(weight === undefined ? {} : { weight }),
  };
}

function allowance<N extends string>(name: N, part: BudgetPart, text: string | undefined): { [K in N]?: Allowance } {
  const read = text === undefined ? undefined : readAllowance(part, text);
  return (typeof read === "object" ? { [name]: read } : {}) as { [K in N]?: Allowance };
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
