/** The failure of a module's top level, from the engine's output. */
export interface Failure {
  /** Its message; without places, which would be those of the bundle. */
  readonly reason: string;
  /** The places in the bundle that it comes from, innermost first. */
  readonly frames: readonly Frame[];
}

/** A place in the bundle. Lines and columns count from 1. */
export interface Frame {
  readonly line: number;
  readonly column: number;
}

/** A rejected promise that nothing handled, including a module's own exception. */
interface Rejection {
  readonly message: string;
  readonly frames: readonly Frame[];
}

/**
 * Finds the failure in the engine's output after a failed top level.
 *
 * @param output the engine's output, mixed with the module's own
 * @param name file name of the bundle
 */
export function failureIn(output: string, name: string): Failure {
  const place = placeIn(name);
  // The message of the engine's C++ when the clock is read outside a request.
  if (/^bad_optional_access was thrown/m.test(output)) {
    return { reason: "it calls what exists only while a request is answered, such as performance.now()", frames: [] };
  }
  const thrown =
    /^Exception while evaluating top-level script\n([\s\S]*?)(?:\nAdditionally, some promises were |$(?!\n))/m;
  const text = thrown.exec(output)?.[1];
  const own = text === undefined ? undefined : quickjsFailure(text, place);
  if (own !== undefined) return own;
  if (text !== undefined) {
    const reason = withoutPlaces(text, place);
    // QuickJS prints a value that is no error as it is.
    if (framesIn(text, place).length === 0 && !/^(?:uncaught exception:|\w*(?:Error|Exception)\b)/.test(reason)) {
      return { reason: `uncaught exception: ${reason}`, frames: [] };
    }
    return { reason, frames: framesOfThrown(framesIn(text, place)[0], reason, rejectionsIn(output, place)) };
  }
  const rejected = rejectionIn(output, name);
  if (rejected !== undefined) return rejected;
  if (/^The top level waits for something that never comes$/m.test(output)) {
    return { reason: "it waits for something that never comes", frames: [] };
  }
  // The entry does export it: it has not come that far.
  if (/"[a-z]+\.js" does not export a "handler" interface/.test(output)) {
    return { reason: "it waits for something that never comes", frames: [] };
  }
  return { reason: withoutPlaces(output, place), frames: [] };
}

/** Reads a message with the stack after it, as QuickJS prints them; undefined when there is no stack. */
function quickjsFailure(text: string, place: RegExp): Failure | undefined {
  const [, message, stack] = /^([\s\S]*?)\n((?: {4}at .*(?:\n|$))+)/.exec(text) ?? [];
  if (message === undefined || stack === undefined) return undefined;
  return { reason: message.trim(), frames: framesIn(stack, place) };
}

/** Finds the first unhandled rejection in the output of a top level that succeeded. */
export function rejectionIn(output: string, name: string): Failure | undefined {
  const [first] = rejectionsIn(output, placeIn(name));
  return first && { reason: `it rejects a promise that nobody handles: ${first.message}`, frames: first.frames };
}

/** The places in the bundle that a text names. */
export const placesIn = (text: string, name: string): Frame[] => framesIn(text, placeIn(name));

/** Matches a place in the bundle, with any folder before its name. */
function placeIn(name: string): RegExp {
  return new RegExp(`${name.replaceAll(".", "\\.")}:(\\d+):(\\d+)`);
}

function rejectionsIn(output: string, place: RegExp): Rejection[] {
  const blocks = output.matchAll(/^Promise rejected but never handled: ([\s\S]*?)\nStack:\n?((?: {2}.*(?:\n|$))*)/gm);
  return [...blocks].map(([, message = "", stack = ""]) => ({ message, frames: framesIn(stack, place) }));
}

function framesIn(text: string, place: RegExp): Frame[] {
  return [...text.matchAll(new RegExp(place, "g"))].map(([, line, column]) => ({
    line: Number(line),
    column: Number(column),
  }));
}

/** The stack of an exception: that of the rejection that begins at the same place, or that has the same message. */
function framesOfThrown(at: Frame | undefined, reason: string, rejections: readonly Rejection[]): readonly Frame[] {
  const same = rejections.find(({ message, frames: [first] }) =>
    at === undefined ? reason.endsWith(`: ${message}`) : first?.line === at.line && first.column === at.column,
  );
  return same?.frames ?? (at === undefined ? [] : [at]);
}

/** Each line of a message begins with its place. */
function withoutPlaces(text: string, place: RegExp): string {
  return text.replaceAll(new RegExp(`^.*?${place.source} `, "gm"), "").trim();
}
