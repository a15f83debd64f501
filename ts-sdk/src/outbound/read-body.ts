import { joinBytes } from "../http/bytes.ts";
import type { PlatformResponse } from "../platform.ts";
import { HttpClientError } from "./errors.ts";

/**
 * Reads a body to its end.
 *
 * @throws HttpClientError `too_large` as soon as there are more than `limit` bytes; the rest is not read.
 */
export async function readBody(response: PlatformResponse, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) break;
    chunks.push(value);
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw tooLarge(limit);
    }
  }
  return joinBytes(chunks, length);
}

/** The error of an answer that is larger than its limit. */
export const tooLarge = (limit: number): HttpClientError =>
  new HttpClientError("too_large", `the answer is larger than ${limit} bytes`);
