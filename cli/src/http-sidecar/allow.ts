/** The rules for the requests that a sidecar forwards, by method and path. */
import { TenonError } from "../errors.ts";

/** A rule such as `POST /v1/charges`, `GET /v1/customers/*` or `* /v1/**`. */
export interface AllowRule {
  /** The rule as written, which is also a label in metrics. */
  readonly text: string;
  matches(method: string, segments: readonly string[]): boolean;
}

/**
 * Parses a rule: a method or `*`, and a path. A segment `*` matches any one segment that is not empty, a last segment
 * `**` any number of segments. GET also allows HEAD.
 *
 * @throws TenonError `CONFIG` with the valid forms
 */
export function parseAllow(text: string): AllowRule {
  const [, method, path] = /^(\*|[A-Z]+) (\/\S*)$/.exec(text) ?? [];
  const pattern = path === undefined ? undefined : splitPath(path);
  if (method === undefined || pattern === undefined || pattern.slice(0, -1).includes("**")) {
    throw new TenonError(
      "CONFIG",
      `${JSON.stringify(text)} allows nothing`,
      'write a method and a path: "POST /v1/charges", "GET /v1/customers/*", "* /v1/**"',
    );
  }
  const open = pattern.at(-1) === "**";
  const fixed = open ? pattern.slice(0, -1) : pattern;
  return {
    text,
    matches: (asked, segments) =>
      (method === "*" || method === asked || (method === "GET" && asked === "HEAD")) &&
      (open ? segments.length > fixed.length : segments.length === fixed.length) &&
      fixed.every((each, i) => (each === "*" ? isFilled(segments[i]) : each === segments[i])),
  };
}

/** Reports whether a segment has a name. Some servers cut a segment off at a semicolon, so `;a` is as good as empty. */
function isFilled(segment = ""): boolean {
  return segment !== "" && !segment.startsWith(";");
}

/**
 * Returns the segments of a path, percent-decoded once.
 *
 * @returns undefined for a path that another server could read differently: with `.` or `..`, an encoded slash,
 *   question mark or number sign, a backslash, a control character, a malformed escape, or an escape that was escaped
 */
export function splitPath(path: string): string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  const segments: string[] = [];
  for (const raw of path.slice(1).split("/")) {
    let segment: string;
    try {
      segment = decodeURIComponent(raw);
    } catch {
      return undefined;
    }
    // Some servers cut a segment off at a semicolon, and then see dots. Some drop blanks after dots. Some decode twice,
    // or before they look for the query.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern is for control characters
    if (/^\.[. ]*(?:;|$)|[/\\?#\0-\x1f\x7f]|%[0-9a-f]{2}/i.test(segment)) return undefined;
    segments.push(segment);
  }
  return segments;
}
