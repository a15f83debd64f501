/** `Event` (DOM Standard, section 2.2). */
import { monotonicNow } from "tenon:engine";
import { defineConstants, defineInterface } from "../interface.ts";
import { dictionary, required } from "../web-idl.ts";

export const NONE = 0;
export const AT_TARGET = 2;

/** The state of an event, which dispatching changes. */
export interface EventState {
  type: string;
  bubbles: boolean;
  cancelable: boolean;
  readonly composed: boolean;
  target: object | null;
  currentTarget: object | null;
  phase: number;
  isTrusted: boolean;
  isDispatched: boolean;
  isStopped: boolean;
  isStoppedAtOnce: boolean;
  isCanceled: boolean;
  isInPassiveListener: boolean;
  readonly timeStamp: number;
}

/** Returns an event's state; throws a TypeError for any other value. */
export let stateOf: (event: unknown) => EventState;
/** Distinguishes events from other values. */
export let isEvent: (value: unknown) => value is Event;

function cancel(state: EventState): void {
  if (state.cancelable && !state.isInPassiveListener) state.isCanceled = true;
}

export class Event {
  readonly #state: EventState;

  static {
    stateOf = (event) => (event as Event).#state;
    isEvent = (value): value is Event => typeof value === "object" && value !== null && #state in value;
  }

  constructor(type: string, init: object | null = null) {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("Event", arguments as unknown as unknown[], 1);
    const text = `${type}`;
    const given = dictionary("Event: the second argument", init);
    const { bubbles, cancelable, composed } = given;
    this.#state = {
      type: text,
      bubbles: Boolean(bubbles),
      cancelable: Boolean(cancelable),
      composed: Boolean(composed),
      target: null,
      currentTarget: null,
      phase: NONE,
      isTrusted: false,
      isDispatched: false,
      isStopped: false,
      isStoppedAtOnce: false,
      isCanceled: false,
      isInPassiveListener: false,
      timeStamp: monotonicNow(),
    };
    Object.defineProperty(this, "isTrusted", isTrusted);
  }

  get type(): string {
    return this.#state.type;
  }

  get target(): object | null {
    return this.#state.target;
  }

  get srcElement(): object | null {
    return this.#state.target;
  }

  get currentTarget(): object | null {
    return this.#state.currentTarget;
  }

  composedPath(): object[] {
    const { currentTarget } = this.#state;
    return currentTarget === null ? [] : [currentTarget];
  }

  get eventPhase(): number {
    return this.#state.phase;
  }

  stopPropagation(): void {
    this.#state.isStopped = true;
  }

  get cancelBubble(): boolean {
    return this.#state.isStopped;
  }

  set cancelBubble(value: boolean) {
    if (value) this.#state.isStopped = true;
  }

  stopImmediatePropagation(): void {
    this.#state.isStopped = true;
    this.#state.isStoppedAtOnce = true;
  }

  get bubbles(): boolean {
    return this.#state.bubbles;
  }

  get cancelable(): boolean {
    return this.#state.cancelable;
  }

  get returnValue(): boolean {
    return !this.#state.isCanceled;
  }

  set returnValue(value: boolean) {
    if (!value) cancel(this.#state);
  }

  preventDefault(): void {
    cancel(this.#state);
  }

  get defaultPrevented(): boolean {
    return this.#state.isCanceled;
  }

  get composed(): boolean {
    return this.#state.composed;
  }

  get timeStamp(): number {
    return this.#state.timeStamp;
  }

  initEvent(type: string, bubbles = false, cancelable = false): void {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("initEvent", arguments as unknown as unknown[], 1);
    initialize(this.#state, `${type}`, Boolean(bubbles), Boolean(cancelable));
  }
}

/** Initializes an event that is not being dispatched (DOM Standard, "initialize"). Returns whether it did. */
export function initialize(state: EventState, type: string, bubbles: boolean, cancelable: boolean): boolean {
  if (state.isDispatched) return false;
  Object.assign(state, { type, bubbles, cancelable, target: null, isTrusted: false });
  Object.assign(state, { isStopped: false, isStoppedAtOnce: false, isCanceled: false });
  return true;
}

/** An own property of every event that no script can replace, with one getter for all. */
const isTrusted: PropertyDescriptor = {
  get: Object.getOwnPropertyDescriptor(
    {
      get isTrusted(): boolean {
        return stateOf(this).isTrusted;
      },
    },
    "isTrusted",
  )?.get as () => boolean,
  enumerable: true,
};

defineInterface("Event", Event);
defineConstants(Event, { NONE, CAPTURING_PHASE: 1, AT_TARGET, BUBBLING_PHASE: 3 });

/** An event of the platform itself, which scripts can trust. */
export function trusted<Given extends Event>(event: Given): Given {
  stateOf(event).isTrusted = true;
  return event;
}
