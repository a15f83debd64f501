/**
 * Runs scripts inside a component and reports what became of them. It is the same for the unmodified engine
 * (`unmodified.js`) and for a component that `tenon build` made (`handler/`), so that their reports can be compared.
 *
 * A task is `{ scripts: string[], until?: string[], waitMs?: number }`: texts that are evaluated as global code, one after
 * the other; the beginnings of the printed lines that end an asynchronous test; and how long such a line may take.
 * The report is `{ threw?: { at, name, message }, pending?: true, printed: string[] }`.
 */
import { restoreRealm } from "./realm.js";

// biome-ignore lint/security/noGlobalEval: evaluating is its purpose
const evaluate = globalThis.eval;
const later = globalThis.setTimeout;
const PromiseAsMade = Promise;
const { parse, stringify } = JSON;
const { apply, defineProperty } = Reflect;
const { push } = Array.prototype;
const { slice, startsWith } = String.prototype;
const { transfer } = ArrayBuffer.prototype;
const toText = String;

/** Characters of a message that are reported, and lines that are. */
const LONGEST = 4_000;
const MOST_LINES = 5_000;

/** Runs a task, which is JSON, and gives its report, which is JSON as well. */
export async function probe(text) {
  const { scripts, until = [], waitMs = 1_000 } = parse(text);
  // The caller begins to wait meanwhile. That takes it some turns, and tests change what promises are, or count turns.
  for (let turn = 0; turn < 10; turn++) await undefined;
  const report = { printed: [] };
  let isOver = until.length === 0;
  let end;
  const ended = new PromiseAsMade((resolve) => {
    end = resolve;
  });
  // `await` looks its operand's constructor up, which a test may have replaced.
  defineProperty(ended, "constructor", { value: PromiseAsMade });
  globalThis.print = (value) => {
    const line = apply(slice, toText(value), [0, LONGEST * 100]);
    if (report.printed.length < MOST_LINES) apply(push, report.printed, [line]);
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
    // Promise jobs come first: an ordinary asynchronous test is over before a timer is wanted.
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

/** Name and message of what was thrown; that it has none, or that asking for them fails, is reported as well. */
function described(thrown, at) {
  const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
  if (!isObject) return { at, name: typeof thrown, message: text(() => thrown) };
  return { at, name: text(() => thrown.constructor.name), message: text(() => thrown.message) };
}

function text(of) {
  try {
    return apply(slice, toText(of()), [0, LONGEST]);
  } catch {
    return "(not to be had)";
  }
}
