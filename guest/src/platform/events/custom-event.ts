/** `CustomEvent` (DOM Standard, section 2.4). */
import { defineInterface } from "../interface.ts";
import { type Dictionary, required } from "../web-idl.ts";
import { Event, initialize, stateOf } from "./event.ts";

export class CustomEvent extends Event {
  #detail: unknown;

  constructor(type: string, init: object | null = null) {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("CustomEvent", arguments as unknown as unknown[], 1);
    super(type, init);
    const { detail } = (init ?? {}) as Dictionary;
    this.#detail = detail === undefined ? null : detail;
  }

  get detail(): unknown {
    return this.#detail;
  }

  initCustomEvent(type: string, bubbles = false, cancelable = false, detail: unknown = null): void {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("initCustomEvent", arguments as unknown as unknown[], 1);
    void this.#detail;
    if (!initialize(stateOf(this), `${type}`, Boolean(bubbles), Boolean(cancelable))) return;
    this.#detail = detail;
  }
}

defineInterface("CustomEvent", CustomEvent);
