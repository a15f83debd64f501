/** One segment of a route's path: a literal text, decoded, or a placeholder's name. */
export type Segment = { readonly literal: string } | { readonly placeholder: string };

/** A route's parsed path. */
export interface Pattern {
  /** The path as it was written. */
  readonly path: string;
  readonly segments: readonly Segment[];
  /** The placeholders' names, from left to right. */
  readonly placeholders: readonly string[];
}

const PLACEHOLDER = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/**
 * Parses a route's path: `""`, or `/` followed by segments, each a literal or a whole `{name}`.
 *
 * @throws TypeError at definition, naming the path and its error.
 */
export function parsePattern(path: string): Pattern {
  const wrong = (why: string) => new TypeError(`the path ${JSON.stringify(path)} ${why}`);
  if (typeof path !== "string") throw wrong("must be a text");
  if (path !== "" && !path.startsWith("/")) throw wrong('must start with "/" (or be empty)');
  if (/[?#]/.test(path)) throw wrong('may hold no "?" and no "#": a query is declared by the option "query"');
  const segments = splitPath(path).map((text): Segment => {
    const name = PLACEHOLDER.exec(text)?.[1];
    if (name !== undefined) return { placeholder: name };
    if (/[{}]/.test(text)) throw wrong(`has "${text}": a placeholder is a whole segment, {name}`);
    try {
      return { literal: decodeURIComponent(text) };
    } catch {
      throw wrong(`has a malformed percent-encoding in "${text}"`);
    }
  });
  const placeholders = segments.flatMap((segment) => ("placeholder" in segment ? [segment.placeholder] : []));
  for (const [i, name] of placeholders.entries()) {
    if (placeholders.indexOf(name) !== i) throw wrong(`has {${name}} twice`);
  }
  return { path, segments, placeholders };
}

/** The segments of a path: none of `""`, one empty one of `"/"`. */
export function splitPath(path: string): string[] {
  const segments = path.split("/");
  segments.shift();
  return segments;
}
