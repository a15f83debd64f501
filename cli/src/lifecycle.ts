import { exitCode } from "./errors.ts";

/** Waits for the signals that end a server. A second Ctrl-C ends the process at once. */
export class Lifecycle {
  /** The exit code that goes with what ended it: 0 for SIGTERM, 130 for Ctrl-C and a terminal that went. */
  readonly ended: Promise<number>;
  #end: (code: number) => void = () => {};
  #ending = false;

  constructor() {
    this.ended = new Promise((resolve) => {
      // A timer keeps the process alive: the addon's server does not.
      const alive = setInterval(() => {}, 2 ** 30);
      this.#end = (code) => {
        clearInterval(alive);
        resolve(code);
      };
    });
    process.once("SIGTERM", () => this.end(exitCode.done));
    process.once("SIGHUP", () => this.end(exitCode.interrupted));
    process.on("SIGINT", () => this.interrupt());
  }

  /** As Ctrl-C does. */
  interrupt(): void {
    if (this.#ending) process.exit(exitCode.interrupted);
    this.end(exitCode.interrupted);
  }

  /** Ends with a code; the first one counts. */
  end(code: number): void {
    this.#ending = true;
    this.#end(code);
  }
}
