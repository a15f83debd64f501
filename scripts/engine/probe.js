/**
 * Runs scripts inside a component, and reports their outcome.
 *
 * A task is `{ scripts: string[], until?: string[], waitMs?: number }`: texts that are evaluated as global code, one
 * after another; prefixes of printed lines that end an asynchronous test; and the time limit for such a line.
 * The report is `{ threw?: { at, name, message }, pending?: true, printed: string[] }`.
 */
import { restoreRealm } from "./realm.js";

// biome-ignore lint/security/noGlobalEval: evaluation is its purpose
const evaluate = globalThis.eval;
const later = globalThis.setTimeout;
const PromiseAsMade = Promise;
const { parse, stringify } = JSON;
const { apply, defineProperty } = Reflect;
const { slice, startsWith } = String.prototype;
const { transfer } = ArrayBuffer.prototype;
const toText = String;

/** Maximum number of reported characters of a message, and of reported lines. */
const LONGEST = 4_000;
const MOST_LINES = 5_000;

/** Runs a task, and returns its report; both are JSON. */
export async function probe(text) {
  const { scripts, until = [], waitMs = 1_000 } = parse(text);
  // Waits some turns, in which the caller begins to wait. Tests change the behavior of promises, or count turns.
  for (let turn = 0; turn < 10; turn++) await undefined;
  const report = { printed: [] };
  let isOver = until.length === 0;
  let end;
  const ended = new PromiseAsMade((resolve) => {
    end = resolve;
  });
  // `await` reads its operand's constructor, which a test may have replaced.
  defineProperty(ended, "constructor", { value: PromiseAsMade });
  globalThis.print = (value) => {
    const line = apply(slice, toText(value), [0, LONGEST * 100]);
    // Not `push`, which calls setters that a test gives `Array.prototype`.
    if (report.printed.length < MOST_LINES) defineProperty(report.printed, report.printed.length, shown(line));
    for (let index = 0; index < until.length; index++) {
      if (!isOver && apply(startsWith, line, [until[index]])) {
        isOver = true;
        end();
      }
    }
  };
  globalThis.$262 = {
    global: globalThis,
    evalScript: (source) => evaluate(source),
    detachArrayBuffer(buffer) {
      apply(transfer, buffer, []);
      return null;
    },
  };
  let at = 0;
  try {
    for (; at < scripts.length; at++) evaluate(scripts[at]);
  } catch (error) {
    report.threw = described(error, at);
    isOver = true;
  }
  if (!isOver) {
    // Promise jobs come first, because an ordinary asynchronous test ends before it needs a timer.
    for (let turn = 0; turn < 200 && !isOver; turn++) await undefined;
    if (!isOver) {
      later(end, waitMs);
      await ended;
    }
    if (!isOver) report.pending = true;
  }
  restoreRealm();
  return stringify(report);
}

/** Returns the descriptor of an element; tests give `Object.prototype` properties such as `get`. */
function shown(value) {
  return { __proto__: null, value, writable: true, enumerable: true, configurable: true };
}

/** Describes an error by name and message. It also reports that these are missing, or that reading them fails. */
function described(thrown, at) {
  const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
  if (!isObject) return { at, name: typeof thrown, message: text(() => thrown) };
  return { at, name: text(() => thrown.constructor.name), message: text(() => thrown.message) };
}

function text(of) {
  try {
    return apply(slice, toText(of()), [0, LONGEST]);
  } catch {
    return "(not readable)";
  }
}
