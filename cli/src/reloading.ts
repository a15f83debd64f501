/** Reloads the configuration of a server when its file changes, and on SIGHUP. */
import { type Stats, unwatchFile, watchFile } from "node:fs";
import { Latest } from "./latest.ts";

/** The interval of looks at the file, in milliseconds. Its folder may be a volume that reports no events. */
const INTERVAL_MS = 500;

/** Reloads when a file changes, somebody asks or a time is over, once at a time, until it is closed. */
export class Reloading {
  readonly #file: string | undefined;
  readonly #latest: Latest;
  #isAsked = false;
  #timer: NodeJS.Timeout | undefined;
  #timerMs: number | undefined;
  readonly #changed = (now: Stats, before: Stats) => {
    // A file that is being replaced is not there for a moment.
    if (now.mtimeMs !== 0 && (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino)) this.request();
  };

  /** @param reload must not reject; `isAsked` is false when only a time is over */
  constructor(file: string | undefined, reload: (isAsked: boolean) => Promise<void>) {
    this.#file = file;
    this.#latest = new Latest(() => {
      const isAsked = this.#isAsked;
      this.#isAsked = false;
      return reload(isAsked);
    });
    if (file !== undefined) watchFile(file, { interval: INTERVAL_MS, persistent: false }, this.#changed);
  }

  /** Reloads, once more when it does so already. */
  request(): void {
    this.#isAsked = true;
    void this.#latest.request();
  }

  /** Reloads each time that so many milliseconds are over; never when undefined. */
  every(ms: number | undefined): void {
    if (ms === this.#timerMs) return;
    clearInterval(this.#timer);
    this.#timerMs = ms;
    this.#timer = ms === undefined ? undefined : setInterval(() => void this.#latest.request(), ms).unref();
  }

  close(): void {
    this.every(undefined);
    if (this.#file !== undefined) unwatchFile(this.#file, this.#changed);
  }
}
