/** One segment of a route's path: a literal text, decoded, or a placeholder's name; `rest` takes the rest of the path. */
export type Segment = { readonly literal: string } | { readonly placeholder: string; readonly rest: boolean };

/** A route's parsed path. */
export interface Pattern {
  /** The path as it was written. */
  readonly path: string;
  readonly segments: readonly Segment[];
  /** The placeholders' names, from left to right. */
  readonly placeholders: readonly string[];
}

const PLACEHOLDER = /^\{([A-Za-z_][A-Za-z0-9_]*)(\*?)\}$/;

/**
 * Parses a route's path: `""`, or `/` followed by segments, each a literal or a whole `{name}`; the last may be `{name*}`.
 *
 * @throws TypeError at definition, naming the path and its error.
 */
export function parsePattern(path: string): Pattern {
  const wrong = (why: string) => new TypeError(`the path ${JSON.stringify(path)} ${why}`);
  if (typeof path !== "string") throw wrong("must be a text");
  if (path !== "" && !path.startsWith("/")) throw wrong('must start with "/" (or be empty)');
  if (/[?#]/.test(path)) throw wrong('must have no "?" and no "#": a query is declared by the option "query"');
  const segments = splitPath(path).map((text, i, all): Segment => {
    const [, name, star] = PLACEHOLDER.exec(text) ?? [];
    if (name !== undefined) {
      if (star && i < all.length - 1) throw wrong(`has "${text}": the rest of the path must be the last segment`);
      return { placeholder: name, rest: star !== "" };
    }
    if (text[0] === ":") throw wrong(`has "${text}": a placeholder must be written {${text.slice(1)}}`);
    if (text.includes("*")) throw wrong(`has "${text}": the rest of a path must be written {name*}`);
    if (/[{}]/.test(text)) throw wrong(`has "${text}": a placeholder must be a whole segment, {name}`);
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
