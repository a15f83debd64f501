/** Builds of `tenon dev`, in a process that survives from one build to the next. */
import { type ChildProcess, fork } from "node:child_process";
import { type ErrorCode, TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";

/** A request to the process. */
export interface BuilderQuestion {
  readonly wanted: "component" | "document";
  readonly project: Project;
}

/** Its messages: the step that begins, the files it depends on, and at the end the result or the error. */
export type BuilderMessage =
  | ({ readonly kind: "read" } & Reads)
  | { readonly kind: "step"; readonly verb: string }
  | { readonly kind: "done"; readonly result: Built | string }
  | { readonly kind: "failed"; readonly failure: BuildFailure };

/** The files that a build read or looked for, absolute. */
export interface Reads {
  readonly files: readonly string[];
  /** The time at which the build began, in milliseconds. */
  readonly begun: number;
  /** False when the build failed before it had read all files. */
  readonly isWhole: boolean;
}

/** An error on its way between processes. `code` is that of a {@link TenonError}. */
export interface BuildFailure {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly stack?: string;
}

/** The result of a development build. */
export interface Built {
  /** File of the component. */
  readonly component: string;
}

/**
 * Builds for development in a separate process that stays, because an endless top level can only be stopped with its
 * process. The next request then starts another process. Only one request runs at a time.
 */
export class Builder {
  #child: ChildProcess | undefined;
  readonly #killAtExit = () => this.#child?.kill("SIGKILL");

  /** Starts the process, so that it is ready for the first build. */
  constructor() {
    process.once("exit", this.#killAtExit);
    this.#child = this.#fork();
  }

  /**
   * Builds a project.
   *
   * @param step called with the verb of each step of `buildProject`
   * @param read called with the files that the build depends on, before it has ended
   * @throws TenonError as `buildProject` does
   * @throws the signal's reason when the build is aborted
   */
  build(
    project: Project,
    signal: AbortSignal,
    step: (verb: string) => void,
    read: (reads: Reads) => void,
  ): Promise<Built> {
    return this.#ask({ wanted: "component", project }, signal, step, read) as Promise<Built>;
  }

  /** Builds the project's OpenAPI document. Throws like `documentFor`, and the signal's reason when it is aborted. */
  document(project: Project, signal: AbortSignal): Promise<string> {
    return this.#ask({ wanted: "document", project }, signal) as Promise<string>;
  }

  /** Ends the process, even during a request. */
  async close(): Promise<void> {
    process.off("exit", this.#killAtExit);
    this.#stop();
  }

  #ask(
    question: BuilderQuestion,
    signal: AbortSignal,
    step: (verb: string) => void = () => {},
    read: (reads: Reads) => void = () => {},
  ): Promise<Built | string> {
    this.#child ??= this.#fork();
    const child = this.#child;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const settle = (end: () => void) => {
        signal.removeEventListener("abort", abort);
        child.off("message", receive).off("error", fail).off("exit", exit);
        end();
      };
      const abort = () => {
        this.#stop();
        settle(() => reject(signal.reason));
      };
      const receive = (message: BuilderMessage) => {
        if (message.kind === "step") step(message.verb);
        else if (message.kind === "read") read(message);
        else if (message.kind === "done") settle(() => resolve(message.result));
        else settle(() => reject(errorOf(message.failure)));
      };
      const fail = (error: Error) => {
        this.#stop();
        settle(() => reject(error));
      };
      const exit = (code: number | null, how: string | null) => fail(new Error(`building ended with ${how ?? code}`));
      signal.addEventListener("abort", abort);
      child.on("message", receive).on("error", fail).on("exit", exit);
      child.send(question);
    });
  }

  #stop(): void {
    // esbuild outlives this process for a moment, and then prints the stacks of its threads.
    this.#child?.stderr?.destroy();
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  #fork(): ChildProcess {
    const child = fork(new URL("./builder-child.js", import.meta.url), {
      serialization: "advanced",
      stdio: ["inherit", "inherit", "pipe", "ipc"],
    });
    child.stderr?.on("data", (data) => process.stderr.write(data));
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}

function errorOf({ code, message, hint, stack }: BuildFailure): Error {
  if (code !== undefined) return new TenonError(code, message, hint);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
