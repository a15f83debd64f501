import { type ChildProcess, fork } from "node:child_process";
import { type ErrorCode, TenonError } from "../errors.ts";
import type { Project } from "../project/project.ts";

/** What the process is asked for. */
export interface BuilderQuestion {
  readonly wanted: "component" | "document";
  readonly project: Project;
}

/** What it answers: which step begins, and in the end what was asked for, or why not. */
export type BuilderMessage =
  | { readonly kind: "step"; readonly verb: string }
  | { readonly kind: "done"; readonly result: Built | string }
  | { readonly kind: "failed"; readonly failure: BuildFailure };

/** An error on its way between processes. `code` is that of a {@link TenonError}. */
export interface BuildFailure {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly stack?: string;
}

/** A component that was built for development. */
export interface Built {
  /** Its file. */
  readonly component: string;
  /** The user's files that it was made from; absolute. */
  readonly inputs: readonly string[];
}

/**
 * Builds for development in a process that stays, because a top level that does not end can only be stopped with its
 * process. What is asked for after that gets another process. One thing is asked for at a time.
 */
export class Builder {
  #child: ChildProcess | undefined;
  readonly #killAtExit = () => this.#child?.kill("SIGKILL");

  /** Starts the process, so that it is ready when a build is wanted. */
  constructor() {
    process.once("exit", this.#killAtExit);
    this.#child = this.#fork();
  }

  /**
   * Builds a project.
   *
   * @param step called with the verb of each step that begins, as `buildProject` has them
   * @throws TenonError as `buildProject` does
   * @throws the signal's reason when it is aborted
   */
  build(project: Project, signal: AbortSignal, step: (verb: string) => void): Promise<Built> {
    return this.#ask({ wanted: "component", project }, signal, step) as Promise<Built>;
  }

  /** The project's OpenAPI document; throws as `documentFor` does, and the signal's reason when it is aborted. */
  document(project: Project, signal: AbortSignal): Promise<string> {
    return this.#ask({ wanted: "document", project }, signal, () => {}) as Promise<string>;
  }

  /** Ends the process, whatever it does. */
  async close(): Promise<void> {
    process.off("exit", this.#killAtExit);
    this.#stop();
  }

  #ask(question: BuilderQuestion, signal: AbortSignal, step: (verb: string) => void): Promise<Built | string> {
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
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  #fork(): ChildProcess {
    const child = fork(new URL("./builder-child.js", import.meta.url), { serialization: "advanced" });
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
