/** `EventTarget` (DOM Standard, section 2.7). There is no tree: the path of an event is its target alone. */
import { defineInterface } from "../interface.ts";
import { reportException } from "../report-error/report.ts";
import { type Dictionary, required } from "../web-idl.ts";
import { AT_TARGET, type Event, type EventState, isEvent, NONE, stateOf, trusted } from "./event.ts";

export type EventCallback = ((this: unknown, event: Event) => unknown) | { handleEvent?: unknown };

const { DOMException } = globalThis;

interface Listener {
  readonly type: string;
  readonly callback: EventCallback;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  isRemoved: boolean;
}

interface Options {
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  readonly signal: unknown;
}

/** Adds an algorithm to a signal; returns false when the signal is aborted. Throws a TypeError for any other value. */
type AddAlgorithm = (signal: unknown, algorithm: () => void) => boolean;

let addAlgorithm: AddAlgorithm = () => {
  throw new TypeError("addEventListener: the signal must be an AbortSignal");
};

let listened: (target: EventTarget) => void = () => {};

/**
 * Makes the option `signal` work. Without `AbortSignal` there is no signal that could be given.
 *
 * @param onListener is called with each target that gets a listener
 */
export function useSignals(add: AddAlgorithm, onListener: (target: EventTarget) => void): void {
  addAlgorithm = add;
  listened = onListener;
}

let globalTarget: EventTarget | undefined;

/** Names the target that is the global for scripts. */
export function standForGlobal(target: EventTarget): void {
  globalTarget = target;
}

/** Dispatches an event of the platform itself. */
export let fire: (target: EventTarget, event: Event) => boolean;
/** Reports whether a target has a listener of a type. */
export let hasListener: (target: EventTarget, type: string) => boolean;
/** Appends a listener that is not there yet. */
export let append: (target: EventTarget, type: string, callback: EventCallback) => void;

export class EventTarget {
  #listeners: Listener[] | undefined;

  static {
    fire = (target, event) => target.#dispatch(trusted(event));
    hasListener = (target, type) => target.#listeners?.some((each) => each.type === type) ?? false;
    append = (target, type, callback) =>
      target.#append({ type, callback, capture: false, once: false, passive: false, isRemoved: false });
  }

  addEventListener(type: string, callback: EventCallback | null, given: unknown = null): void {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("addEventListener", arguments as unknown as unknown[], 2);
    // Reads the private field first, so that another receiver is refused.
    const listeners = this.#listeners;
    const text = `${type}`;
    const checked = checkCallback("addEventListener", callback);
    const { capture, once, passive, signal } = optionsOf(given);
    const listener = { type: text, callback: checked as EventCallback, capture, once, passive, isRemoved: false };
    if (signal !== undefined) {
      if (!addAlgorithm(signal, () => this.#remove(listener))) return;
    }
    if (checked === null) return;
    if (listeners === undefined) this.#listeners = [];
    this.#append(listener);
  }

  removeEventListener(type: string, callback: EventCallback | null, options: unknown = null): void {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("removeEventListener", arguments as unknown as unknown[], 2);
    const listeners = this.#listeners;
    const text = `${type}`;
    const checked = checkCallback("removeEventListener", callback);
    const capture = captureOf(options);
    const found = listeners?.find(
      (each) => each.type === text && each.callback === checked && each.capture === capture,
    );
    if (found !== undefined) this.#remove(found);
  }

  dispatchEvent(event: Event): boolean {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("dispatchEvent", arguments as unknown as unknown[], 1);
    void this.#listeners;
    if (!isEvent(event)) throw new TypeError("dispatchEvent: the argument must be an Event");
    const state = stateOf(event);
    if (state.isDispatched) throw new DOMException("The event is being dispatched already", "InvalidStateError");
    state.isTrusted = false;
    return this.#dispatch(event);
  }

  #append(listener: Listener): void {
    this.#listeners ??= [];
    const { type, callback, capture } = listener;
    for (const each of this.#listeners) {
      if (each.callback === callback && each.type === type && each.capture === capture) return;
    }
    this.#listeners.push(listener);
    listened(this);
  }

  #remove(listener: Listener): void {
    const index = this.#listeners?.indexOf(listener) ?? -1;
    if (index < 0) return;
    listener.isRemoved = true;
    this.#listeners?.splice(index, 1);
  }

  #dispatch(event: Event): boolean {
    const state = stateOf(event);
    state.isDispatched = true;
    const shown = this === globalTarget ? globalThis : this;
    state.target = shown;
    if (this.#listeners !== undefined && this.#listeners.length > 0) {
      state.currentTarget = shown;
      state.phase = AT_TARGET;
      this.#invoke(event, state, true);
      this.#invoke(event, state, false);
    }
    state.phase = NONE;
    state.currentTarget = null;
    state.isDispatched = false;
    state.isStopped = false;
    state.isStoppedAtOnce = false;
    return !state.isCanceled;
  }

  /** Calls the listeners of one phase: those that capture come first, also at the target. */
  #invoke(event: Event, state: EventState, capture: boolean): void {
    if (state.isStopped) return;
    // Listeners may add and remove others; those that are added wait for the next event.
    for (const listener of [...(this.#listeners ?? [])]) {
      if (listener.isRemoved || listener.type !== state.type || listener.capture !== capture) continue;
      if (listener.once) this.#remove(listener);
      state.isInPassiveListener = listener.passive;
      try {
        call(listener.callback, state.currentTarget, event);
      } catch (exception) {
        reportException(exception);
      }
      state.isInPassiveListener = false;
      if (state.isStoppedAtOnce) return;
    }
  }
}

function call(callback: EventCallback, target: object | null, event: Event): void {
  if (typeof callback === "function") {
    Reflect.apply(callback, target, [event]);
    return;
  }
  const { handleEvent } = callback;
  if (typeof handleEvent !== "function") throw new TypeError("the listener's handleEvent must be a function");
  Reflect.apply(handleEvent as () => unknown, callback, [event]);
}

function checkCallback(name: string, callback: unknown): EventCallback | null {
  if (callback === null || callback === undefined) return null;
  if (typeof callback === "object" || typeof callback === "function") return callback as EventCallback;
  throw new TypeError(`${name}: the listener must be a function or an object`);
}

const isDictionary = (options: unknown): options is Dictionary =>
  (typeof options === "object" && options !== null) || typeof options === "function";

/** The option `capture`, which may be all that is given. */
const captureOf = (options: unknown): boolean => Boolean(isDictionary(options) ? options["capture"] : options);

function optionsOf(given: unknown): Options {
  if (!isDictionary(given)) return { capture: Boolean(given), once: false, passive: false, signal: undefined };
  const capture = Boolean(given["capture"]);
  const once = Boolean(given["once"]);
  const passive = Boolean(given["passive"]);
  return { capture, once, passive, signal: given["signal"] };
}

defineInterface("EventTarget", EventTarget);
