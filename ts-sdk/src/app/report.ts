/** Reports exceptions in the log, without secrets. */
import { platform } from "../platform.ts";

/** The limit of causes that are written for an error. */
const MAX_CAUSES = 5;

const hidden: string[] = [];

/** Masks a text in reports: a secret that may be part of an error's message. */
export function hideInReports(text: string): void {
  // A text of a few characters would match inside ordinary words.
  if (text.length <= 5 || hidden.includes(text)) return;
  hidden.push(text);
  // Longer texts first, because one may be part of another.
  hidden.sort((a, b) => b.length - a.length);
}

/**
 * Writes an exception to stderr, with its stack and causes. The answer contains none of it. The runtime maps the
 * stack's lines to the TypeScript source.
 */
export function reportError(handler: string | undefined, thrown: unknown): void {
  const lines = [handler === undefined ? "Uncaught exception" : `Uncaught exception in handler "${handler}"`];
  let at = thrown;
  for (let depth = 0; depth < MAX_CAUSES && at !== undefined; depth++) {
    lines.push(`${depth === 0 ? "" : "Caused by: "}${describe(at)}`);
    at = causeOf(at);
  }
  platform.console.error(hidden.reduce((text, each) => text.replaceAll(each, "***"), lines.join("\n")));
}

/** The cause of an error. One that the error repeats is left out: it has the same message at its end, and was made by the same call. */
function causeOf(error: unknown): unknown {
  try {
    if (!(error instanceof Error)) return undefined;
    const { cause } = error;
    if (!(cause instanceof Error) || cause.message === "") return cause;
    const isRepeated = String(error.message).endsWith(String(cause.message)) && callersOf(error) === callersOf(cause);
    return isRepeated ? cause.cause : cause;
  } catch {
    // A getter of the error threw.
    return undefined;
  }
}

/** The frames of an error's stack after the first one, whose lines differ within a function. */
function callersOf(error: Error): string {
  const title = `${error.name}: ${error.message}`;
  const stack = String(error.stack ?? "");
  const frames = stack.startsWith(title) ? stack.slice(title.length) : stack;
  return frames.trim().split("\n").slice(1).join("\n");
}

/** An error's message and stack: some engines put the message into the stack, others do not. */
function describe(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const title = `${thrown.name}: ${thrown.message}`;
    const stack = String(thrown.stack ?? "");
    return stack.startsWith(title) ? stack : `${title}\n${stack}`.trimEnd();
  } catch {
    return "(the thrown value can't be shown)";
  }
}
