import { platform } from "../platform.ts";

/** How many causes of an error are written. */
const MAX_CAUSES = 5;

const hidden: string[] = [];

/** Keeps a text out of what is reported: a secret that somebody put into the message of an error. */
export function hideInReports(text: string): void {
  // A few characters stand in many a word.
  if (text.length <= 5 || hidden.includes(text)) return;
  hidden.push(text);
  // One may be a part of another.
  hidden.sort((a, b) => b.length - a.length);
}

/**
 * Writes an exception to stderr, with its stack and causes. Nothing of it is in the answer. The runtime maps the stack's
 * lines to the TypeScript source.
 */
export function reportError(handler: string | undefined, thrown: unknown): void {
  const lines = [handler === undefined ? "Uncaught exception" : `Uncaught exception in handler ${handler}`];
  let at = thrown;
  for (let depth = 0; depth < MAX_CAUSES && at !== undefined; depth++) {
    lines.push(`${depth === 0 ? "" : "Caused by: "}${describe(at)}`);
    at = at instanceof Error ? at.cause : undefined;
  }
  platform.console.error(hidden.reduce((text, each) => text.replaceAll(each, "***"), lines.join("\n")));
}

/** An error's message and stack: some engines put the message into the stack, others do not. */
function describe(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const title = `${thrown.name}: ${thrown.message}`;
    const stack = String(thrown.stack ?? "");
    return stack.startsWith(title) ? stack : `${title}\n${stack}`.trimEnd();
  } catch {
    return "(what was thrown can't be shown)";
  }
}
