import { encodeValue } from "../http/headers.ts";
import { JSON_TYPE, type Response, RawResponse as UnencodedResponse } from "../http/response.ts";
import { isBodiless } from "../http/status.ts";
import { encodeUtf8 } from "../platform.ts";
import type { RawResponse } from "./app.ts";

/**
 * Turns an answer into what the component interface takes. HEAD gets the headers of GET, and how long its body would be.
 *
 * @throws TypeError when the body can't be written as JSON.
 */
export function send(response: Response, method: string): RawResponse {
  const { status } = response;
  // What `ok` gives has the same headers each time.
  const headers = response.headers === JSON_TYPE ? JSON_HEADERS : encodeHeaders(response.headers);
  if (isBodiless(status)) return { status, headers };
  const body = encodeBody(response);
  if (method === "HEAD") {
    const length = ["content-length", encodeValue(String(body?.length ?? 0))] as const;
    return { status, headers: headers.concat([length]) };
  }
  return body === undefined ? { status, headers } : { status, headers, body };
}

function encodeHeaders(given: Response["headers"]): RawResponse["headers"] {
  const headers: [string, Uint8Array][] = [];
  for (let i = 0; i < given.length; i++) {
    const header = given[i] as (typeof given)[number];
    // The length is what the body's is: a wrong one would desynchronise the connection.
    if (header[0] !== "content-length") headers.push([header[0], encodedValue(header[1])]);
  }
  return headers;
}

function encodeBody(response: Response): Uint8Array | undefined {
  const { body } = response;
  if (body === undefined) return undefined;
  if (response instanceof UnencodedResponse) return typeof body === "string" ? encodeUtf8(body) : (body as Uint8Array);
  const text = JSON.stringify(body);
  if (text === undefined) throw new TypeError(`a ${typeof body} can't be sent as JSON`);
  return encodeUtf8(text);
}

// Nearly every answer has one of these.
const COMMON = new Map(["application/json", "application/problem+json"].map((value) => [value, encodeValue(value)]));

function encodedValue(value: string): Uint8Array {
  return COMMON.get(value) ?? encodeValue(value);
}

const JSON_HEADERS = encodeHeaders(JSON_TYPE);
