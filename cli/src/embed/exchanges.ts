/** The requests of a runtime that modules are answering in this process, and their end. */
import type { Runtime as NativeRuntime } from "@tenon/native";
import { TenonError } from "../errors.ts";
import { Calls } from "./calls.ts";

/** A request that is answered, and can be cut off. */
export interface Endable {
  end(reason: TenonError): void;
}

/** Requests in progress, of `Runtime.fetch` and `Runtime.handle`. */
export class Exchanges {
  readonly calls: Calls;
  readonly #running = new Set<Endable>();
  #idle: (() => void) | undefined;

  constructor(runtime: NativeRuntime) {
    this.calls = new Calls(runtime);
  }

  /**
   * Adds a request that begins.
   *
   * @returns a function to call when it has ended
   */
  begin(exchange: Endable): () => void {
    this.#running.add(exchange);
    return () => {
      this.#running.delete(exchange);
      if (this.#running.size === 0) this.#idle?.();
    };
  }

  /** Resolves when running requests have been answered, with streams to their end; after `timeoutMs` they are cut off. */
  async end(timeoutMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const cut = new TenonError("RESPONSE", "the runtime was closed before the request was answered");
    const late = setTimeout(() => {
      for (const exchange of this.#running) exchange.end(cut);
    }, timeoutMs);
    await idle;
    clearTimeout(late);
  }
}
