/**
 * Encodes a text as one segment of a URL's path.
 *
 * @param what the noun phrase that names the text in errors
 * @throws TypeError for the empty text, for `.` and `..`, which lead to other URLs, and for half of a surrogate pair.
 */
export function encodeSegment(what: string, text: string): string {
  if (typeof text !== "string" || text === "" || text === "." || text === "..") {
    throw new TypeError(`${what} must be a text, and neither empty nor "." nor ".."`);
  }
  try {
    return encodeURIComponent(text);
  } catch {
    throw new TypeError(`${what} has half of a surrogate pair`);
  }
}
