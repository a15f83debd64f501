import { type ChildProcess, spawn } from "node:child_process";

/** A command on a terminal of its own, as a person has it: util-linux's `script` provides the pseudo-terminal. */
export class Pty {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number>;
  #said = "";
  #told: () => void = () => {};

  /** @param environment all that the command sees */
  constructor(command: string, cwd: string, environment: NodeJS.ProcessEnv = process.env) {
    this.#child = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
      cwd,
      env: { ...environment, TERM: "xterm-256color", COLUMNS: "120", LINES: "40" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout?.on("data", (data) => {
      this.#said += data;
      this.#told();
    });
    // Not "exit", because all output has to be read first.
    this.#exited = new Promise((resolve) => this.#child.once("close", (code) => resolve(code ?? -1)));
  }

  /** The process of `script` itself; the command is its child. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The length of the output so far; see {@link sees}. */
  get mark(): number {
    return this.#said.length;
  }

  /** The output as a person would read it: without colours, and a repainted line once, in its last form. */
  screen(from = 0): string {
    return (
      this.#said
        .slice(from)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are removed
        .replace(/\u001b\[[0-9;?]*[A-HJ-Za-z]/g, (sequence) => (sequence.endsWith("K") ? "\r" : ""))
        .replace(/\r+\n/g, "\n")
        .split("\n")
        .map(
          (line) =>
            line
              .split("\r")
              .filter((part) => part !== "")
              .at(-1) ?? "",
        )
        .join("\n")
    );
  }

  /** Types. Ctrl-C is `\x03`. */
  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Waits until a pattern is printed, and returns the match; only output after the mark `from` counts. */
  async sees(pattern: RegExp, from = 0, seconds = 120): Promise<RegExpExecArray> {
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const found = pattern.exec(this.screen(from));
      if (found !== null) return found;
      if (Date.now() > deadline) throw new Error(`${pattern} was not seen in:\n${this.screen(from)}`);
      await new Promise<void>((resolve) => {
        this.#told = resolve;
        setTimeout(resolve, 500);
      });
    }
  }

  /** The exit code, once it is over. */
  exited(): Promise<number> {
    return this.#exited;
  }

  /** Ends it, if it is not over. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
