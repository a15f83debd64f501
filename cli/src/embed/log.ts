/** The log of the process for a function. */
import type { Log as NativeLog } from "@tenon/native";
import { native } from "../native.ts";

/** A line of the log, with the members of a line with `logFormat: "json"`. */
export interface LogRecord {
  /** When, in milliseconds since 1970. */
  readonly time: number;
  readonly level: "error" | "warn" | "info" | "debug";
  /** `module` for a module's output, `access` for a request (`accessLog`), and otherwise the part of Tenon. */
  readonly target: string;
  readonly message: string;
  /** The name of the module that it is about. */
  readonly module?: string;
  readonly requestId?: string;
  /** Further members of the line: `status` and `duration_ms` of a request, `stack` of an exception. */
  readonly fields: Readonly<Record<string, string | number | boolean>>;
}

/** Calls a function with each record, on Node's thread, and never while something else runs on it. */
export class LogDelivery {
  readonly #log: NativeLog;
  readonly #onLog: (record: LogRecord) => void;

  constructor(onLog: (record: LogRecord) => void, level: string) {
    this.#onLog = onLog;
    this.#log = new (native().Log)(level, () => this.#deliver());
  }

  /** Delivers the remaining records, and ends. */
  close(): void {
    this.#deliver();
    this.#log.close();
  }

  #deliver(): void {
    for (const record of this.#log.take()) {
      try {
        this.#onLog(record as LogRecord);
      } catch (error) {
        // Thrown like an event listener's exception: the process is notified, and further records are still delivered.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}
