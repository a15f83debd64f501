/** Delivers the use of a runtime's requests to listeners of the program. */
import type { Runtime as NativeRuntime, Usages as NativeUsages } from "@tenon/native";
import { TenonError } from "../errors.ts";
import { native } from "../native.ts";
import type { UsageListener } from "./usage.ts";

/** The listeners of a runtime. Its requests are metered while there is one. */
export class UsageListeners {
  readonly #runtime: NativeRuntime;
  #listeners: readonly UsageListener[] = [];
  #usages: NativeUsages | undefined;

  constructor(runtime: NativeRuntime) {
    this.#runtime = runtime;
  }

  add(event: string, listener: UsageListener): void {
    refuseWrong(event, listener);
    this.#listeners = [...this.#listeners, listener];
    this.#usages ??= new (native().Usages)(this.#runtime, () => this.#deliver());
  }

  /** Removes a listener once. */
  remove(event: string, listener: UsageListener): void {
    refuseWrong(event, listener);
    const index = this.#listeners.lastIndexOf(listener);
    if (index < 0) return;
    if (this.#listeners.length === 1) this.close();
    else this.#listeners = this.#listeners.filter((_, each) => each !== index);
  }

  /** Delivers the remaining records, and ends. */
  close(): void {
    this.#usages?.close();
    this.#deliver();
    this.#usages = undefined;
    this.#listeners = [];
  }

  #deliver(): void {
    for (const usage of this.#usages?.take() ?? []) {
      for (const listener of this.#listeners) {
        try {
          listener(usage);
        } catch (error) {
          // Thrown like an event listener's exception: the process is notified, and further records are still delivered.
          process.nextTick(() => {
            throw error;
          });
        }
      }
    }
  }
}

function refuseWrong(event: string, listener: unknown): void {
  if (event !== "usage") throw new TenonError("CONFIG", `unknown event \`${event}\`; known is usage`);
  if (typeof listener !== "function") throw new TenonError("CONFIG", "the listener must be a function");
}
