/** `AbortSignal` (DOM Standard, section 3.2). */
import { defineInterface } from "../interface.ts";
import { required, sequence } from "../web-idl.ts";
import { Event } from "./event.ts";
import { defineEventHandler } from "./event-handlers.ts";
import { EventTarget, fire, hasListener, useSignals } from "./event-target.ts";

const { DOMException, Set, WeakRef: Weak, setTimeout: startTimer } = globalThis;

type WeakSignals = Set<WeakRef<AbortSignal>>;

interface SignalState {
  isAborted: boolean;
  reason: unknown;
  /** Steps before the event `abort`; each runs once. */
  algorithms: Set<() => void> | undefined;
  /** The signals that `any` combined; undefined for one that depends on no other. */
  sources: WeakSignals | undefined;
  /** The signals that depend on this one, in the order in which they were made. */
  dependents: WeakSignals | undefined;
  /** Those of them that somebody listens to, so that they stay as long as this one. */
  held: Set<AbortSignal> | undefined;
}

/** Lets the class be constructed, which scripts cannot. */
const key = {};
let stateOf: (signal: AbortSignal) => SignalState;

/** Distinguishes signals from other values. */
export let isAbortSignal: (value: unknown) => value is AbortSignal;

export class AbortSignal extends EventTarget {
  readonly #state: SignalState;

  static {
    stateOf = (signal) => signal.#state;
    isAbortSignal = (value): value is AbortSignal => typeof value === "object" && value !== null && #state in value;
  }

  constructor(given: unknown = undefined) {
    if (given !== key) throw new TypeError("Illegal constructor");
    super();
    this.#state = {
      isAborted: false,
      reason: undefined,
      algorithms: undefined,
      sources: undefined,
      dependents: undefined,
      held: undefined,
    };
  }

  get aborted(): boolean {
    return this.#state.isAborted;
  }

  get reason(): unknown {
    return this.#state.reason;
  }

  throwIfAborted(): void {
    if (this.#state.isAborted) throw this.#state.reason;
  }

  static abort(reason: unknown = undefined): AbortSignal {
    const signal = newSignal();
    const state = stateOf(signal);
    state.isAborted = true;
    state.reason = reasonOr(reason);
    return signal;
  }

  static timeout(milliseconds: number): AbortSignal {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("AbortSignal.timeout", arguments as unknown as unknown[], 1);
    const delay = enforceRange(milliseconds);
    const signal = newSignal();
    startTimer(
      () => abort(signal, new DOMException("The operation timed out", "TimeoutError")),
      Math.min(delay, LONGEST),
    );
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("AbortSignal.any", arguments as unknown as unknown[], 1);
    return dependentOn(sequence("AbortSignal.any: the argument", signals, checkSignal));
  }
}

/** The longest delay of a timer, 24 days. */
const LONGEST = 2 ** 31 - 1;

/** Returns a signal that a controller or a timer will abort. */
export const newSignal = (): AbortSignal => new AbortSignal(key);

const reasonOr = (reason: unknown): unknown =>
  reason === undefined ? new DOMException("The operation was aborted", "AbortError") : reason;

function checkSignal(value: unknown): AbortSignal {
  if (isAbortSignal(value)) return value;
  throw new TypeError("AbortSignal.any: each value must be an AbortSignal");
}

/** Converts to `unsigned long long` with `[EnforceRange]`. */
function enforceRange(given: number): number {
  const number = Math.trunc(Number(given));
  if (number >= 0 && number <= Number.MAX_SAFE_INTEGER) return number;
  throw new TypeError("AbortSignal.timeout: the argument must be an integer from 0 to 2 ** 53 - 1");
}

/** Creates a dependent signal (DOM Standard, section 3.2). */
function dependentOn(signals: readonly AbortSignal[]): AbortSignal {
  const result = newSignal();
  const state = stateOf(result);
  const aborted = signals.find((each) => stateOf(each).isAborted);
  if (aborted !== undefined) {
    state.isAborted = true;
    state.reason = stateOf(aborted).reason;
    return result;
  }
  const sources = new Set<AbortSignal>();
  for (const each of signals) {
    const { sources: further } = stateOf(each);
    if (further === undefined) sources.add(each);
    else for (const source of alive(further)) sources.add(source);
  }
  const weak = new Weak(result);
  state.sources = new Set();
  for (const source of sources) {
    const from = stateOf(source);
    if (from.dependents !== undefined) prune(from.dependents);
    from.dependents ??= new Set();
    from.dependents.add(weak);
    state.sources.add(new Weak(source));
  }
  return result;
}

function* alive(signals: Iterable<WeakRef<AbortSignal>>): Generator<AbortSignal> {
  for (const weak of signals) {
    const signal = weak.deref();
    if (signal !== undefined) yield signal;
  }
}

/** Forgets dependents that nobody has any more, at each doubling of their number. */
function prune(dependents: WeakSignals): void {
  const { size } = dependents;
  if (size < 8 || (size & (size - 1)) !== 0) return;
  for (const weak of dependents) if (weak.deref() === undefined) dependents.delete(weak);
}

/** Has the sources of a signal hold it, because somebody waits for its abortion. */
function hold(signal: AbortSignal): void {
  for (const source of alive(stateOf(signal).sources ?? [])) {
    const state = stateOf(source);
    state.held ??= new Set();
    state.held.add(signal);
  }
}

/** Aborts a signal: its dependents are aborted before its event fires, and their events fire after it. */
export function abort(signal: AbortSignal, given?: unknown): void {
  const state = stateOf(signal);
  if (state.isAborted) return;
  state.isAborted = true;
  state.reason = reasonOr(given);
  const following: AbortSignal[] = [];
  for (const each of alive(state.dependents ?? [])) {
    const of = stateOf(each);
    if (of.isAborted) continue;
    of.isAborted = true;
    of.reason = state.reason;
    following.push(each);
  }
  state.dependents = undefined;
  state.held = undefined;
  runSteps(signal, state);
  for (const each of following) runSteps(each, stateOf(each));
}

function runSteps(signal: AbortSignal, state: SignalState): void {
  const { algorithms } = state;
  state.algorithms = undefined;
  for (const algorithm of algorithms ?? []) algorithm();
  if (hasListener(signal, "abort")) fire(signal, new Event("abort"));
}

/**
 * Adds an algorithm that runs when a signal is aborted, before its event. Returns the function that takes it away; undefined when the
 * signal is aborted already.
 */
export function onAbort(signal: AbortSignal, algorithm: () => void): (() => void) | undefined {
  const state = stateOf(signal);
  if (state.isAborted) return undefined;
  state.algorithms ??= new Set();
  state.algorithms.add(algorithm);
  hold(signal);
  return () => void state.algorithms?.delete(algorithm);
}

useSignals(
  (signal, algorithm) => {
    if (!isAbortSignal(signal)) throw new TypeError("addEventListener: the signal must be an AbortSignal");
    return onAbort(signal, algorithm) !== undefined;
  },
  (target) => {
    if (isAbortSignal(target)) hold(target);
  },
);
defineInterface("AbortSignal", AbortSignal);
defineEventHandler(AbortSignal.prototype, "abort", (receiver) => void stateOf(receiver as AbortSignal));
