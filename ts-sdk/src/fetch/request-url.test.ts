import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeUtf8 } from "../platform.ts";
import type { RawRequest } from "../raw.ts";
import { requestUrl } from "./request-url.ts";

function rawRequest(host: string, pathWithQuery: string): RawRequest {
  return { method: "GET", pathWithQuery, headers: [["host", encodeUtf8(host)]] };
}

/** The URL that a parser of the standard makes of a host and a target. */
function parsed(host: string, target: string): string {
  try {
    return new URL(`http://${host}${target}`).href;
  } catch {
    return new URL(`http://localhost${target}`).href;
  }
}

it("gives the URL that a parser makes, whether or not it asks one", () => {
  const text = (pattern: RegExp) => fc.stringMatching(pattern);
  const name = text(/^[a-z\d]{1,4}(?:[.-]{1,2}[a-z\d]{1,4}){0,3}$/);
  const address = text(/^(?:\d{1,3}\.){2,4}\d{1,3}$/);
  const port = fc.constantFrom("", ":80", ":443", ":0080", ":8080", ":65535", ":65536", ":");
  const hosts = fc.tuple(fc.oneof(name, address, fc.constantFrom("xn--a", "0x7f.1", "[::1]", "A.b")), port);
  const segment = fc.oneof(text(/^[.%2eE]{0,4}$/), text(/^[\w.~!$&'()*+,;=:@%-]{0,6}$/), text(/^[ -~]{0,4}$/));
  const paths = fc.tuple(
    fc.array(segment, { minLength: 1, maxLength: 4 }),
    fc.oneof(fc.constant(""), text(/^\?[ -~]{0,8}$/)),
  );
  const inUrl = fc.property(hosts, paths, ([host, at], [segments, query]) => {
    const target = `/${segments.join("/")}${query}`;
    expect(requestUrl(rawRequest(host + at, target))).toBe(parsed(host + at, target));
  });
  fc.assert(inUrl, { numRuns: 3000 });
});
