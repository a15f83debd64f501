import { type Stats, unwatchFile, watchFile } from "node:fs";
import { Latest } from "./latest.ts";

/** How often the file is looked at, in milliseconds. Its folder may be a volume that reports no events. */
const INTERVAL_MS = 500;

/** Reloads when a file changes or somebody asks, once at a time, until it is closed. */
export class Reloading {
  readonly #file: string | undefined;
  readonly #latest: Latest;
  readonly #changed = (now: Stats, before: Stats) => {
    // A file that is being replaced is not there for a moment.
    if (now.mtimeMs !== 0 && (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino)) this.request();
  };

  /** @param reload must not reject */
  constructor(file: string | undefined, reload: () => Promise<void>) {
    this.#file = file;
    this.#latest = new Latest(reload);
    if (file !== undefined) watchFile(file, { interval: INTERVAL_MS, persistent: false }, this.#changed);
  }

  /** Reloads, once more when it does so already. */
  request(): void {
    void this.#latest.request();
  }

  close(): void {
    if (this.#file !== undefined) unwatchFile(this.#file, this.#changed);
  }
}
