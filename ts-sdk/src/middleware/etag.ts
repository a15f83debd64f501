import { encodeBase64Url } from "../encoding/base64.ts";
import { encodedBody, Response, withHeaders } from "../http/response.ts";
import { completedResponse, SENDING } from "../http/sending.ts";
import { platform } from "../platform.ts";
import { middleware } from "./middleware.ts";
import type { Middleware } from "./types.ts";

/**
 * Gives 200 answers to GET and HEAD a strong `ETag`, a digest of their bodies, and answers 304 to clients that have it
 * already (RFC 9110, sections 8.8.3 and 13.1.2). It keeps an `ETag` that the handler has set. A streamed answer gets
 * none, because its body is not known yet.
 *
 * @example
 * routes({ … }, { use: [etag()] })
 */
export function etag(): Middleware {
  return middleware(async (req, next) => {
    const answer = await next();
    if ((req.method !== "GET" && req.method !== "HEAD") || answer.status !== 200) return answer;
    const given = headerOf(answer, "etag");
    if (given === undefined && answer[SENDING]?.start) return answer;
    const tag = given ?? `"${await digest(encodedBody(answer) ?? new Uint8Array())}"`;
    const tagged = withHeaders(answer, [["etag", tag]]);
    const known = req.headers.get("if-none-match");
    if (known === undefined || !matches(known, tag)) return tagged;
    // Keeps the headers about caching that a 200 would have (RFC 9110, section 15.4.5).
    const { headers } = await completedResponse(tagged);
    const kept = headers.filter(([name]) => KEPT.test(name));
    return new Response(304, kept, undefined);
  });
}

const KEPT = /^(?:cache-control|content-location|date|etag|expires|vary|set-cookie|access-control-.*)$/;

function headerOf(answer: Response, wanted: string): string | undefined {
  return answer.headers.find(([name]) => name === wanted)?.[1];
}

async function digest(bytes: Uint8Array): Promise<string> {
  const hash = await platform.crypto.subtle.digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(hash).subarray(0, 18));
}

/** Reports whether one of the tags is this one, by the weak comparison. */
function matches(list: string, tag: string): boolean {
  if (list.trim() === "*") return true;
  const opaque = (text: string) => text.replace(/^W\//, "");
  return (list.match(/(?:W\/)?"[^"]*"/g) ?? []).some((each) => opaque(each) === opaque(tag));
}
