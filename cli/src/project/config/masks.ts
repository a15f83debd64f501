/** The entries of `mask` in `[record]`. */

/** A name of a header (RFC 9110, section 5.6.2) that does not begin with a `#`, a JSON pointer (RFC 6901) after a `#`, or a parameter of the query after a `?`. */
const entry = /^(?:(?!#)[!#$%&'*+.^_`|~0-9A-Za-z-]+|#(?:\/(?:[^/~]|~[01])*)+|\?[^&=#]+)$/;

/** The same for editors. */
export const maskRule = { items: { type: "string", pattern: entry.source } } as const;

/** Returns why a list of entries cannot be used. No entry is repeated: the list may come from the environment. */
export function maskProblem(entries: readonly string[]): string | undefined {
  const wrong = entries.findIndex((each) => !entry.test(each));
  if (wrong < 0) return undefined;
  const which = entries.length === 1 ? "has an entry" : `has as entry ${wrong + 1} one`;
  return `${which} that is neither the name of a header, a JSON pointer such as #/card/number, nor a query parameter such as ?token`;
}

/** A header's name. */
export const headerRule = { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" } as const;

/** Returns why a text is not a header's name. */
export function headerProblem(name: string): string | undefined {
  return new RegExp(headerRule.pattern).test(name) ? undefined : "must be the name of a header";
}
