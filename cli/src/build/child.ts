/** Asks a child process one question, and answers in the child. */
import { fork } from "node:child_process";
import { type ErrorCode, TenonError } from "../errors.ts";

/**
 * Asks a program of this folder one question, in a process of its own, because seconds of computing without a pause
 * would block this one. The program answers with a message.
 *
 * @param program file name of the compiled program
 * @param environment variables for it, besides those of this process
 * @returns the answer, or what the program printed when it ended without one
 */
export function askChild<Question, Result>(
  program: string,
  question: Question,
  environment: NodeJS.ProcessEnv = {},
): Promise<Result | ChildError> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL(`./${program}`, import.meta.url), {
      env: { ...process.env, ...environment },
      // Keeps bytes as bytes on their way.
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    // Stops the child when this process ends.
    const stop = () => child.kill();
    process.once("exit", stop);
    child.once("close", () => process.off("exit", stop));
    let errors = "";
    child.stderr?.on("data", (data) => {
      errors += data;
    });
    child.once("message", (answer) => resolve(answer as Result));
    child.once("error", reject);
    // The message, if there was one, comes first.
    child.once("close", (code) => resolve({ error: errors.trim() || `${program} ended with ${code} and no result` }));
    child.send(question as object);
  });
}

/** The error of the program. */
export interface ChildError {
  readonly error: string;
  readonly code?: ErrorCode;
}

/** The other side of {@link askChild}: answers the question that this process was started with. */
export function answerParent<Question, Result extends object>(answer: (question: Question) => Promise<Result>): void {
  // The parent has its answer, or was killed and waits for none.
  process.once("disconnect", () => process.exit());
  process.once("message", async (question: Question) => {
    let result: Result | ChildError;
    try {
      result = await answer(question);
    } catch (error) {
      result = {
        error: error instanceof Error ? error.message : String(error),
        ...(error instanceof TenonError ? { code: error.code } : {}),
      };
    }
    process.send?.(result, () => process.disconnect());
  });
}
