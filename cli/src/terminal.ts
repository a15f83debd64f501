/** The amount of output: nothing but errors, the usual, or every detail. */
export type Verbosity = "quiet" | "normal" | "verbose";

/**
 * The command's messages to a person. All of them go to standard error: standard output is for data. Colours and moving
 * progress appear on a terminal only, and not with `TERM=dumb`. `NO_COLOR` and `FORCE_COLOR` decide about colours.
 */
export class Terminal {
  /** True when every line of this process is a JSON object, as the log of the server is with `log_format = "json"`. */
  static #isJson = false;

  /** Writes one JSON object a line from now on, in the whole process: there is one standard error. */
  static useJson(): void {
    Terminal.#isJson = true;
  }

  readonly #stream: NodeJS.WriteStream;
  readonly #verbosity: Verbosity;
  readonly #lively: boolean;
  readonly #color: boolean;
  /** Redraws the line of the current step; undefined when there is none. */
  #repaint: (() => void) | undefined;

  constructor(verbosity: Verbosity = "normal", stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
    this.#verbosity = verbosity;
    const dumb = process.env["TERM"] === "dumb";
    this.#lively = stream.isTTY === true && !dumb && verbosity !== "quiet" && !process.env["CI"];
    this.#color = wantsColor(process.env, stream.isTTY === true && !dumb);
  }

  /** A line of the usual kind. */
  say(text: string): void {
    if (this.#verbosity !== "quiet") this.#line("INFO", text, text);
  }

  /** A line about an event: a verb, in bold and aligned, and its object. */
  note(verb: string, object: string): void {
    if (this.#verbosity === "quiet") return;
    this.#line("INFO", `${this.bold(verb.padStart(12))} ${object}`, object, { step: verb });
  }

  /** A line with details, for `--verbose`. */
  detail(text: string): void {
    if (this.#verbosity === "verbose") this.#line("DEBUG", this.dim(text), text);
  }

  /** A failure and its remedy; printed even when quiet. */
  failure(message: string, hint?: string): void {
    const advice = hint === undefined ? "" : `\n${this.#paint("1;36", "hint:")} ${hint}`;
    const line = `${this.#paint("1;31", "error:")} ${message}${advice}`;
    this.#line("ERROR", line, message, hint === undefined ? {} : { hint });
  }

  /**
   * Runs a step, and then prints its result and its duration. A terminal shows the elapsed time meanwhile; elsewhere
   * there is one line at the end.
   */
  async step<T>(verb: string, object: string, run: () => Promise<T>, outcome?: (result: T) => string): Promise<T> {
    const started = performance.now();
    const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
    const line = (subject: string) => `${this.bold(verb.padStart(12))} ${subject} ${this.dim(seconds())}`;
    const isLively = this.#lively && !Terminal.#isJson;
    if (isLively) {
      this.#repaint = () => this.#stream.write(`\r\u001b[K${line(object)}`);
      this.#repaint();
    }
    const timer = isLively ? setInterval(() => this.#repaint?.(), 100) : undefined;
    // Whatever ends the process, the next line on the terminal is not begun.
    const atExit = () => this.#endStep();
    process.once("exit", atExit);
    try {
      const result = await run();
      this.#endStep();
      const subject = outcome === undefined ? object : `${object} ${outcome(result)}`;
      const ms = Math.round(performance.now() - started);
      if (this.#verbosity !== "quiet") this.#line("INFO", line(subject), subject, { step: verb, duration_ms: ms });
      return result;
    } catch (error) {
      this.#endStep();
      throw error;
    } finally {
      clearInterval(timer);
      process.off("exit", atExit);
    }
  }

  bold(text: string): string {
    return this.#paint("1", text);
  }

  dim(text: string): string {
    return this.#paint("2", text);
  }

  /** A status of HTTP, in the colour that people expect. */
  status(code: number): string {
    return this.#paint(code < 300 ? "32" : code < 400 ? "36" : code < 500 ? "33" : "31", String(code));
  }

  /** The beginning of a line about something that was checked, five characters wide. */
  mark(state: "ok" | "note" | "error"): string {
    return this.#paint({ ok: "32", note: "33", error: "1;31" }[state], state.padEnd(5));
  }

  /** Writes a line for people, or the same as JSON in the form of the server's own log. */
  #line(level: "ERROR" | "INFO" | "DEBUG", shown: string, message: string, fields: object = {}): void {
    const timestamp = new Date().toISOString();
    this.#write(
      `${Terminal.#isJson ? JSON.stringify({ timestamp, level, message, ...fields, target: "tenon" }) : shown}\n`,
    );
  }

  /** Writes whole lines, above the one of the step that is going on. */
  #write(lines: string): void {
    if (this.#repaint === undefined) this.#stream.write(lines);
    else {
      this.#stream.write(`\r\u001b[K${lines}`);
      this.#repaint();
    }
  }

  #endStep(): void {
    if (this.#repaint === undefined) return;
    this.#repaint = undefined;
    this.#stream.write("\r\u001b[K");
  }

  #paint(code: string, text: string): string {
    return this.#color ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

/**
 * Reports whether to use colours: `NO_COLOR` (no-color.org), then `FORCE_COLOR` as Node reads it, decide before the
 * terminal.
 */
function wantsColor({ NO_COLOR, FORCE_COLOR }: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (NO_COLOR) return false;
  if (FORCE_COLOR === undefined) return isTerminal;
  return ["", "true", "1", "2", "3"].includes(FORCE_COLOR);
}

/** A size in the unit that a person would choose: `812 B`, `27.4 KiB`, `11.5 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes.toFixed(1)} KiB` : `${(kibibytes / 1024).toFixed(1)} MiB`;
}
