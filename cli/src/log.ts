/** The log of the process for a function. */
import type { Log as NativeLog } from "@tenon/native";
import { native } from "./native.ts";
import type { RuntimeOptions } from "./runtime-options.ts";

/** A line of the log, with what the line of `logFormat: "json"` has. */
export interface LogRecord {
  /** When, in milliseconds since 1970. */
  readonly time: number;
  readonly level: "error" | "warn" | "info" | "debug";
  /** `module` for what a module writes, `access` for a request (`accessLog`), and the part of Tenon otherwise. */
  readonly target: string;
  readonly message: string;
  /** The name of the module that it is about. */
  readonly module?: string;
  readonly requestId?: string;
  /** What else the line has, such as `status` and `duration_ms` of a request. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
}

/** Calls a function with each record, on Node's thread, and never while something else runs on it. */
export class LogDelivery {
  readonly #log: NativeLog;
  readonly #onLog: (record: LogRecord) => void;

  constructor(onLog: (record: LogRecord) => void, level: NonNullable<RuntimeOptions["logLevel"]>) {
    this.#onLog = onLog;
    this.#log = new (native().Log)(level, () => this.#deliver());
  }

  /** Delivers what is left, and ends. */
  close(): void {
    this.#deliver();
    this.#log.close();
  }

  #deliver(): void {
    for (const record of this.#log.take()) {
      try {
        this.#onLog(record as LogRecord);
      } catch (error) {
        // As a listener's of an event: the process is told, and the other records come all the same.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}
