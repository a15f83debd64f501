/** The places of imports that are refused. The engine names the module and no place. */

/** A place in a source. Lines and columns begin with 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** The most characters of a source in which an import is looked for, because the event loop waits meanwhile. */
const MOST = 200_000;

const refused = /^"(.+)" cannot be imported: |^Could not find export '.*' in module '(.+)'$/s;

/** Returns the place of the import that a message of the engine refuses; undefined unless one text of the source looks like it. */
export function importPlace(source: string, message: string): Place | undefined {
  const [, unknown, lacking] = refused.exec(message) ?? [];
  const name = unknown ?? lacking;
  if (name === undefined || source.length > MOST) return undefined;
  const literal = name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const found = [...source.matchAll(new RegExp(`\\b(?:from|import)\\s*(["'])${literal}\\1`, "g"))];
  const [first] = found;
  if (first === undefined || found.length > 1) return undefined;
  const lines = source.slice(0, first.index + first[0].length - name.length - 2).split(/\r\n|[\n\r\u2028\u2029]/);
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
