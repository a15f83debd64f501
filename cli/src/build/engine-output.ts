/** What went wrong at a module's top level, as the engine prints it. */
export interface Failure {
  /** What it says; without places, which would be those of the bundle. */
  readonly reason: string;
  /** The places in the bundle that it comes from, innermost first. */
  readonly frames: readonly Frame[];
}

/** A place in the bundle. Lines and columns count from 1. */
export interface Frame {
  readonly line: number;
  readonly column: number;
}

/** A promise that was rejected and that nobody handled. What a module throws is among them. */
interface Rejection {
  readonly message: string;
  readonly frames: readonly Frame[];
}

/**
 * Finds the failure in what the engine printed when a top level did not succeed.
 *
 * @param output what it printed; what the module itself printed is among it
 * @param name file name of the bundle
 */
export function failureIn(output: string, name: string): Failure {
  const place = placeIn(name);
  // What the engine's C++ says when the clock is asked for before there is a request.
  if (/^bad_optional_access was thrown/m.test(output)) {
    return { reason: "it calls what exists only while a request is answered, such as performance.now()", frames: [] };
  }
  const thrown =
    /^Exception while evaluating top-level script\n([\s\S]*?)(?:\nAdditionally, some promises were |$(?!\n))/m;
  const text = thrown.exec(output)?.[1];
  if (text !== undefined) {
    const reason = withoutPlaces(text, place);
    return { reason, frames: framesOfThrown(framesIn(text, place)[0], reason, rejectionsIn(output, place)) };
  }
  const rejected = rejectionIn(output, name);
  if (rejected !== undefined) return rejected;
  // The entry does export it: it has not come that far.
  if (/"[a-z]+\.js" does not export a "handler" interface/.test(output)) {
    return { reason: "it waits for something that never comes", frames: [] };
  }
  return { reason: withoutPlaces(output, place), frames: [] };
}

/** Finds the first promise that was rejected and that nobody handled, in what a top level printed that ended well. */
export function rejectionIn(output: string, name: string): Failure | undefined {
  const [first] = rejectionsIn(output, placeIn(name));
  return first && { reason: `it rejects a promise that nobody handles: ${first.message}`, frames: first.frames };
}

/** The places in the bundle that a text names. */
export const placesIn = (text: string, name: string): Frame[] => framesIn(text, placeIn(name));

/** What matches a place in the bundle, whatever folder is said before its name. */
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

/** The stack of what was thrown: that of the rejection that begins where it was thrown, or that says the same. */
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
