/**
 * The first text of an isolate: it keeps the globals that a program may have, and exchanges texts with the app. A program may take all of
 * this over, and gains nothing by it: the app treats every text as the program's own.
 */
import type { FromIsolate, ProgramError, ToIsolate } from "./types.ts";

type Evaluate = (
  source: string,
  name: string,
) => readonly [evaluated: Promise<void>, namespace: { readonly default: unknown }];

/** The globals of a program besides `api`, `console` and `input`: those of ECMAScript without shared memory, and five of the web. */
const GLOBALS = new Set(
  (
    "globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent " +
    "escape unescape Object Function Boolean Symbol Error AggregateError SuppressedError EvalError RangeError ReferenceError SyntaxError " +
    "TypeError URIError InternalError Number BigInt Math Date String RegExp Iterator Array Int8Array Uint8Array Uint8ClampedArray Int16Array " +
    "Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array ArrayBuffer DataView JSON Map Set " +
    "WeakMap WeakSet WeakRef FinalizationRegistry Promise Proxy Reflect DisposableStack AsyncDisposableStack atob btoa queueMicrotask DOMException"
  ).split(" "),
);

const PROGRAM = "program.ts";
/** The most characters of a message, and of a stack. */
const MOST = 4 * 1024;

/**
 * Begins, and returns the function that takes a text, or returns what the program says when it is called without one.
 *
 * @param evaluate evaluates a module of JavaScript
 * @param strip returns a program without its types
 */
export function start(evaluate: Evaluate, strip: (source: string) => string): (text?: string) => string | undefined {
  const { parse, stringify } = JSON;
  const scope = globalThis as unknown as Record<string, unknown>;
  for (const name of Reflect.ownKeys(globalThis)) {
    if (typeof name === "string" && !GLOBALS.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  let calls: [number, string, unknown][] = [];
  let logs: [boolean, string][] = [];
  let done: FromIsolate["done"];
  let last = 0;
  type Settle = readonly [resolve: (answer: unknown) => void, reject: (error: Error) => void];
  const pending = new Map<number, Settle>();

  const call = (route: string, input: unknown) =>
    new Promise((resolve, reject) => {
      calls.push([++last, route, input]);
      pending.set(last, [resolve, reject]);
    });

  /** The client: each member is a route or a group by its name. It is no thenable, so that it can be awaited. */
  const client = (path: string): unknown =>
    new Proxy(function route() {}, {
      get: (_, name) =>
        typeof name !== "string" || name === "then" ? undefined : client(path === "" ? name : `${path}.${name}`),
      apply: (_, __, [input]) => call(path, input),
      set: () => false,
      defineProperty: () => false,
    });

  const shown = (value: unknown): string => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof Error) return `${value.name}: ${value.message}`;
      return (typeof value === "object" && stringify(value)) || String(value);
    } catch {
      return "a value that cannot be shown";
    }
  };
  const log =
    (isError: boolean) =>
    (...values: unknown[]) => {
      logs.push([isError, values.map(shown).join(" ")]);
    };
  const define = (name: string, value: unknown) =>
    Object.defineProperty(scope, name, { value, writable: true, enumerable: false, configurable: true });
  const [info, error] = [log(false), log(true)];
  define("console", { log: info, info, debug: info, warn: error, error });
  define("api", client(""));

  async function run(source: string): Promise<void> {
    let isParsed = false;
    try {
      const evaluation = evaluate(strip(source), PROGRAM);
      isParsed = true;
      await evaluation[0];
      const exported = evaluation[1].default;
      const value: unknown = await (typeof exported === "function" ? exported(scope["input"]) : exported);
      const text = stringify(value);
      done = text === undefined ? { ok: true } : { ok: true, value: text };
    } catch (thrown) {
      done = { ok: false, error: failureOf(thrown, isParsed) };
    }
  }

  const property = (thrown: unknown, name: string): unknown => {
    try {
      return (thrown as Record<string, unknown>)[name];
    } catch {
      return undefined;
    }
  };

  function failureOf(thrown: unknown, isParsed: boolean): ProgramError {
    const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
    const [name, message, stack, line] = ["name", "message", "stack", "line"].map((each) =>
      isObject ? property(thrown, each) : undefined,
    );
    const own = typeof stack === "string" ? stack.split("\n").filter((each) => each.includes(PROGRAM)) : [];
    const place = /program\.ts:(\d+)(?::(\d+))?/.exec(own[0] ?? "");
    return {
      kind: isParsed ? "thrown" : "syntax",
      message: (typeof message === "string" ? message : shown(thrown)).slice(0, MOST),
      ...(typeof name === "string" ? { name: name.slice(0, 100) } : {}),
      ...(place !== null ? { line: Number(place[1]) } : typeof line === "number" && !isParsed ? { line } : {}),
      ...(place?.[2] === undefined ? {} : { column: Number(place[2]) }),
      ...(own.length === 0 ? {} : { stack: own.join("\n").slice(0, MOST) }),
    };
  }

  function take(text: string): void {
    const given = parse(text) as ToIsolate;
    if ("run" in given) {
      define("input", given.input);
      void run(given.run);
      return;
    }
    const settle = pending.get(given.call);
    pending.delete(given.call);
    if ("refused" in given) settle?.[1](new TypeError(given.refused));
    else settle?.[0](given.answer);
  }

  return (text) => {
    if (text !== undefined) {
      take(text);
      return undefined;
    }
    const said = stringify({ calls, logs, done } satisfies { [key in keyof FromIsolate]: unknown });
    calls = [];
    logs = [];
    return said;
  };
}
