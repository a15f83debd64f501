/** `PromiseRejectionEvent` (HTML Standard, section 8.1.4.6). */
import { defineInterface } from "../interface.ts";
import { dictionary, required } from "../web-idl.ts";
import { Event } from "./event.ts";

export class PromiseRejectionEvent extends Event {
  readonly #promise: Promise<unknown>;
  readonly #reason: unknown;

  constructor(type: string, init: object) {
    // biome-ignore lint/complexity/noArguments: both are required, whatever their value
    required("PromiseRejectionEvent", arguments as unknown as unknown[], 2);
    super(type, init);
    const { promise, reason } = dictionary("PromiseRejectionEvent: the second argument", init);
    if (promise === undefined) throw new TypeError("PromiseRejectionEvent: promise is required");
    this.#promise = Promise.resolve(promise);
    this.#reason = reason;
  }

  get promise(): Promise<unknown> {
    return this.#promise;
  }

  get reason(): unknown {
    return this.#reason;
  }
}

defineInterface("PromiseRejectionEvent", PromiseRejectionEvent);
