/**
 * The probes of `tenon replay --until`: they keep the values of expressions each time a line is reached, and send them out of the replay by
 * a call that no recording has, which ends it.
 */
import { startCall } from "tenon:engine";

/** The settings of a build with probes. */
export interface Probing {
  /** The method of the call. Each build has another one, so that no call of the handler is taken for it. */
  readonly mark: string;
  /** Calls into the component that the recording has. The values are sent after the last. */
  readonly entries: number;
  /** The values are sent when the line was reached this many times. */
  readonly most: number;
  /** True when nothing is sent, which shows that the probes change nothing. */
  readonly isSilent: boolean;
}

type Values = readonly (readonly [name: string, value: () => unknown])[];
type Entry = (...args: never[]) => unknown;

const { JSON, Object, Promise, String, encodeURIComponent } = globalThis;

/** Members of a value, elements of a list, and characters of a text that are shown. */
const MEMBERS = 40;
const CHARACTERS = 1_000;
const DEPTH = 6;
/** The most parts of all values of one time together. */
const PARTS = 400;
/** Times whose values are kept. */
const KEPT = 100;

let settings: Probing | undefined;
/** Undefined until the request begins: what the build itself runs is not counted. */
let reached: { times: number; kept: Record<string, unknown>[]; lines: Record<number, number> } | undefined;
let entered = 0;

/** Counts a line. */
export function line(number: number): void {
  if (reached !== undefined) reached.lines[number] = (reached.lines[number] ?? 0) + 1;
}

/** Keeps the values at the line. */
export function values(all: Values): void {
  if (reached === undefined || settings === undefined) return;
  reached.times++;
  if (reached.kept.length < KEPT) {
    const left = { parts: PARTS };
    const shown = members();
    for (const [name, value] of all) shown[name] = evaluated(value, left);
    reached.kept.push(shown);
  }
  if (reached.times >= settings.most) send();
}

function evaluated(value: () => unknown, left: { parts: number }): unknown {
  try {
    return plain(value(), left, []);
  } catch (error) {
    return `<${short(thrown(error))}>`;
  }
}

/** An empty object that a program cannot change by the prototype of all objects, and that may have a member `__proto__`. */
function members(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

/** A list that a program cannot change by the prototype of all lists. */
function bare(list: unknown[]): unknown[] {
  return Object.setPrototypeOf(list, null) as unknown[];
}

function short(text: string): string {
  return text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}<…>` : text;
}

function thrown(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "an error without a text";
  }
}

/** Converts a value to JSON. Values that JSON lacks are texts in angle brackets. */
function plain(value: unknown, left: { parts: number }, above: readonly unknown[]): unknown {
  if (left.parts-- <= 0) return "<…>";
  if (typeof value === "string") return short(value);
  if (typeof value === "number")
    return Number.isFinite(value) && !Object.is(value, -0) ? value : `<${Object.is(value, -0) ? "-0" : value}>`;
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "bigint") return `<${short(String(value))}n>`;
  if (typeof value === "function") return `<function ${short(String(value.name))}>`;
  if (typeof value !== "object") return `<${short(String(value))}>`;
  if (above.includes(value)) return "<the same again>";
  if (above.length >= DEPTH) return "<…>";
  return ofObject(value, left, [...above, value]);
}

function ofObject(value: object, left: { parts: number }, above: readonly unknown[]): unknown {
  if (value instanceof Error) return `<${short(thrown(value))}>`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "<an invalid date>" : value.toISOString();
  if (value instanceof Promise) return "<a promise>";
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    const digits = [...bytes.subarray(0, 32)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return `<${bytes.length} bytes ${digits}${bytes.length > 32 ? "…" : ""}>`;
  }
  if (Array.isArray(value)) {
    const shown = value.slice(0, MEMBERS).map((each) => plain(each, left, above));
    return bare(value.length > MEMBERS ? [...shown, `<${value.length - MEMBERS} more>`] : shown);
  }
  const shown = members();
  if (value instanceof Map || value instanceof Set) {
    const kind = value instanceof Map ? "<Map>" : "<Set>";
    shown[kind] = plain([...value].slice(0, MEMBERS + 1), left, above);
    return shown;
  }
  const all = Object.entries(Object.getOwnPropertyDescriptors(value)).filter(([, { enumerable }]) => enumerable);
  for (const [name, member] of all.slice(0, MEMBERS)) {
    // Reading it would run code.
    shown[short(name)] = "value" in member ? plain(member.value, left, above) : "<a getter>";
  }
  if (all.length > MEMBERS) shown["<more>"] = all.length - MEMBERS;
  return shown;
}

function send(): void {
  if (reached === undefined || settings === undefined || settings.isSilent) return;
  const { times, kept, lines } = reached;
  const sent = Object.assign(members(), { times, kept: bare([...kept]), lines });
  const url = encodeURIComponent(JSON.stringify(sent));
  void (startCall as (call: object) => unknown)({ method: settings.mark, url, headers: [], timeoutMs: 0, maxBytes: 0 });
}

/** Notes the end of a call into the component. */
function left(): void {
  entered++;
  if (settings !== undefined && entered >= settings.entries) send();
}

/** Watches the functions that the host calls. `isRehearsal` is true for a request of the build itself. */
export function watch<Exports extends object>(
  probing: Probing,
  exports: Exports,
  isRehearsal: (...args: never[]) => boolean = () => false,
): Exports {
  settings = probing;
  const watched = Object.entries(exports).map(([name, entry]: [string, Entry]) => [
    name,
    name === "takesBodies"
      ? entry
      : (...args: never[]) => {
          if (isRehearsal(...args)) return entry(...args);
          reached ??= { times: 0, kept: [], lines: Object.create(null) as Record<number, number> };
          const answer = entry(...args);
          if (!(answer instanceof Promise)) {
            left();
            return answer;
          }
          return answer.finally(left);
        },
  ]);
  return Object.fromEntries(watched) as Exports;
}
