/** `AbortController` (DOM Standard, section 3.1). */
import { defineInterface } from "../interface.ts";
import { type AbortSignal, abort, newSignal } from "./abort-signal.ts";

export class AbortController {
  readonly #signal = newSignal();

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason: unknown = undefined): void {
    abort(this.#signal, reason);
  }
}

defineInterface("AbortController", AbortController);
