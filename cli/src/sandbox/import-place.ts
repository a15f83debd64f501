/** The places of imports that are refused. The engine names the module and no place. */

/** A place in a source. Lines and columns begin with 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * The most characters of a source and of a message. The event loop waits for the search, and a script chooses both: a long name that contains
 * its own beginning again and again would take their product.
 */
const MOST = { source: 200_000, message: 500 };

const refused = /^"(.+)" cannot be imported: |^Could not find export '.*' in module '(.+)'$/s;

/** Returns the place of the import that a message of the engine refuses; undefined unless one text of the source looks like it. */
export function importPlace(source: string, message: string): Place | undefined {
  if (source.length > MOST.source || message.length > MOST.message) return undefined;
  const [, unknown, lacking] = refused.exec(message) ?? [];
  const name = unknown ?? lacking;
  if (name === undefined) return undefined;
  const literal = name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const found = [...source.matchAll(new RegExp(`\\b(?:from|import)\\s*(["'])${literal}\\1`, "g"))];
  const [first] = found;
  if (first === undefined || found.length > 1) return undefined;
  const lines = source.slice(0, first.index + first[0].length - name.length - 2).split(/\r\n|[\n\r\u2028\u2029]/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
