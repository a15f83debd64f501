/** The end of a server process: signals, and running requests. */
import { closeSync, openSync } from "node:fs";
import { exitCode } from "./errors.ts";

/** The note of a server that ends. */
export const stopping = "after running requests; Ctrl-C again stops at once";

const isWindows = process.platform === "win32";

/** Waits for the signals that end a server, from when it is made. A second Ctrl-C ends the process at once. */
export class Lifecycle {
  /** The exit code by cause: 0 for SIGTERM and for Ctrl-Break on Windows, 130 for Ctrl-C and a closed terminal. */
  readonly ended: Promise<number>;
  #end: (code: number) => void = () => {};
  #ending = false;
  readonly #hadTerminal = hasTerminal();
  #hangUp: (() => void) | undefined;

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
    // Windows only has it. No process can send another one SIGTERM there.
    if (isWindows) process.once("SIGBREAK", () => this.end(exitCode.done));
    process.on("SIGHUP", () => {
      // On Windows the window is closed, and the system ends the process some seconds later.
      const isGone = isWindows || (this.#hadTerminal && !hasTerminal());
      if (this.#hangUp === undefined || isGone) this.end(exitCode.interrupted);
      else this.#hangUp();
    });
    process.on("SIGINT", () => this.interrupt());
  }

  /**
   * Waits for the start of a server. A signal during the start ends the process at once, with its code. {@link ended}
   * resolves for later ones, however soon they come.
   */
  starting<T>(start: Promise<T>): Promise<T> {
    let isStarting = true;
    void this.ended.then((code) => {
      if (isStarting) process.exit(code);
    });
    start.then(
      () => {
        isStarting = false;
      },
      () => {
        isStarting = false;
        this.end(exitCode.failed);
      },
    );
    return start;
  }

  /** Makes SIGHUP reload instead of ending the process, unless the process lost its terminal. Windows has no SIGHUP. */
  onHangUp(reload: () => void): void {
    this.#hangUp = reload;
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

/** Reports whether the process has a terminal that controls it. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/** Lets Ctrl-C end a command that serves nothing with the code for that: the default leaves the code to the shell. */
export function exitOnInterrupt(): void {
  process.once("SIGINT", () => process.exit(exitCode.interrupted));
}
