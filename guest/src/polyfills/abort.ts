/**
 * Aborting as the DOM Standard has it (section 3). The engine's `AbortSignal.any` returns signals that are aborted, its
 * `throwIfAborted` traps, and its `AbortSignal.abort` requires an argument. Signals stay the engine's own, because its timers and
 * `fetch` know no others.
 */
const { AbortController, AbortSignal, EventTarget } = globalThis;
const { prototype } = AbortSignal;
const nativeAbort = AbortController.prototype.abort;
const nativeAborted = getterOf("aborted") as (this: AbortSignal) => boolean;
const nativeReason = getterOf("reason");

function getterOf(name: "aborted" | "reason"): (this: AbortSignal) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get as (this: AbortSignal) => unknown;
}

/** The controllers of signals that `any` made. */
const controllers = new WeakMap<AbortSignal, AbortController>();
/** The sources of signals that `any` made, which it did not make itself. */
const sources = new WeakMap<AbortSignal, ReadonlySet<AbortSignal>>();
/** The signals that `any` made from a source, in that order. */
const dependents = new WeakMap<AbortSignal, Set<AbortSignal>>();
/** Reasons of signals whose source has aborted and whose own event is still to come. */
const early = new WeakMap<AbortSignal, unknown>();

/** Aborts a signal: its dependents are aborted before its event fires, and their events fire after it. */
function signalAbort(signal: AbortSignal, reason: unknown, fire: () => void): void {
  const waiting = [...(dependents.get(signal) ?? [])].filter((each) => !each.aborted);
  dependents.delete(signal);
  for (const each of waiting) early.set(each, reason);
  fire();
  for (const each of waiting) nativeAbort.call(controllers.get(each) as AbortController, reason);
}

const reasonOr = (reason: unknown): unknown =>
  reason === undefined ? new DOMException("The operation was aborted", "AbortError") : reason;

/** Reads the argument of `any` (Web IDL, sequences). */
function signalsIn(given: Iterable<AbortSignal>): AbortSignal[] {
  if (Object(given) !== given || typeof given[Symbol.iterator] !== "function") {
    throw new TypeError("AbortSignal.any: the argument must be an iterable of signals");
  }
  const signals = [...given];
  for (const signal of signals) {
    if (!(signal instanceof AbortSignal)) throw new TypeError("AbortSignal.any: each value must be an AbortSignal");
  }
  return signals;
}

function any(given: Iterable<AbortSignal>): AbortSignal {
  const signals = signalsIn(given);
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = signals.find((each) => each.aborted);
  if (aborted !== undefined) {
    nativeAbort.call(controller, aborted.reason);
    return signal;
  }
  const all = new Set(signals.flatMap((each) => [...(sources.get(each) ?? [each])]));
  controllers.set(signal, controller);
  sources.set(signal, all);
  for (const source of all) {
    let after = dependents.get(source);
    if (after === undefined) {
      after = new Set();
      dependents.set(source, after);
      // The engine itself aborts some: those of timeouts, for example.
      source.addEventListener("abort", () => signalAbort(source, source.reason, () => {}), { once: true });
    }
    after.add(signal);
  }
  return signal;
}

const define = (on: object, name: PropertyKey, value: unknown, enumerable: boolean) =>
  Object.defineProperty(on, name, { value, writable: true, enumerable, configurable: true });
const get = (name: string, getter: (this: AbortSignal) => unknown) =>
  Object.defineProperty(prototype, name, { get: getter, enumerable: true, configurable: true });

const checkReceiver = (value: unknown) => {
  if (!(value instanceof AbortSignal)) throw new TypeError("the receiver must be an AbortSignal");
};

const statics = {
  any,
  abort(...[reason]: unknown[]) {
    const controller = new AbortController();
    controller.abort(reason);
    return controller.signal;
  },
};
for (const [name, value] of Object.entries(statics)) define(AbortSignal, name, value, true);
const methods = {
  abort(this: AbortController, ...[given]: unknown[]) {
    const { signal } = this;
    if (signal.aborted) return;
    const reason = reasonOr(given);
    signalAbort(signal, reason, () => nativeAbort.call(this, reason));
  },
  throwIfAborted(this: AbortSignal) {
    checkReceiver(this);
    if (this.aborted) throw this.reason;
  },
};
define(AbortController.prototype, "abort", methods.abort, true);
define(prototype, "throwIfAborted", methods.throwIfAborted, true);
get("aborted", function aborted(this: AbortSignal) {
  checkReceiver(this);
  return nativeAborted.call(this) || early.has(this);
});
get("reason", function reason(this: AbortSignal) {
  checkReceiver(this);
  return early.has(this) ? early.get(this) : nativeReason.call(this);
});
for (const Class of [AbortController, AbortSignal, EventTarget]) {
  Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: Class.name, configurable: true });
}

type Listen = (this: EventTarget, type: string, callback: unknown, options?: unknown) => void;

const listen = EventTarget.prototype.addEventListener as Listen;
const addEventListener: Listen = function (this: EventTarget, type, callback, ...[options]) {
  if ((options as { signal?: unknown } | undefined)?.signal === null) {
    throw new TypeError("addEventListener: the signal must be an AbortSignal");
  }
  listen.call(this, type, callback, options);
};
define(EventTarget.prototype, "addEventListener", addEventListener, true);
