/** Converts an answer to the response of the component's interface. */
import { encodeValue } from "../http/headers.ts";
import { encodedBody, JSON_TYPE, PROBLEM_TYPE, type Response, textOf, type WriteBody } from "../http/response.ts";
import { SENDING } from "../http/sending.ts";
import { isBodiless } from "../http/status.ts";
import { encodeUtf8 } from "../platform.ts";
import type { RawResponse } from "../raw.ts";

/**
 * Converts an answer to the component interface's response. HEAD gets the headers of GET, and the length of a body that
 * is not streamed.
 *
 * @param write writes a body with its declared members
 * @throws TypeError when the body can't be written as JSON.
 */
export function send(response: Response, method: string, write?: WriteBody): RawResponse {
  const { status, headers: given, body: value } = response;
  // Fast path: nearly every answer comes from `ok`, with the same headers.
  if (given === JSON_TYPE && value !== undefined && method !== "HEAD") {
    return { status, headers: JSON_HEADERS, body: encodeUtf8(textOf(response, write)) };
  }
  const headers = encodeHeaders(given);
  const start = response[SENDING]?.start;
  if (start) return { status, headers: headers.concat(start(!isBodiless(status) && method !== "HEAD")) };
  if (isBodiless(status)) return { status, headers };
  const body = encodedBody(response, write);
  if (method === "HEAD") {
    const length = ["content-length", encodeValue(String(body?.length ?? 0))] as const;
    return { status, headers: headers.concat([length]) };
  }
  return body === undefined ? { status, headers } : { status, headers, body };
}

function encodeHeaders(given: Response["headers"]): RawResponse["headers"] {
  if (given === JSON_TYPE) return JSON_HEADERS;
  if (given === PROBLEM_TYPE) return PROBLEM_HEADERS;
  const headers: EncodedHeader[] = [];
  for (let i = 0; i < given.length; i++) {
    const header = given[i] as (typeof given)[number];
    if (header === JSON_TYPE[0]) headers.push(JSON_HEADER);
    // The length comes from the body: a wrong one would desynchronise the connection.
    else if (header[0] !== "content-length") headers.push(encodeHeader(header));
  }
  return headers;
}

type EncodedHeader = RawResponse["headers"][number];

function encodeHeader(header: Response["headers"][number]): EncodedHeader {
  return [header[0], encodeValue(header[1])];
}

const JSON_HEADER = encodeHeader(JSON_TYPE[0]);
const JSON_HEADERS = Object.freeze([JSON_HEADER]);
const PROBLEM_HEADERS = Object.freeze(PROBLEM_TYPE.map(encodeHeader));
