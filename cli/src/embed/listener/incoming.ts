/** A request of Node's server, as a call of the runtime. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { NativePeer } from "@tenon/native";
import { TenonError } from "../../errors.ts";

/** A request of Node's servers. */
export type Incoming = IncomingMessage | Http2ServerRequest;
/** The response that belongs to it. */
export type Outgoing = ServerResponse | Http2ServerResponse;

/** Headers of a connection, which belong to no request and no response (RFC 9110, section 7.6.1). */
export const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Characters that the lines of a head cannot have. The others are bytes. */
const unfit = /[^\t\u0020-\u00ff]/;

/**
 * Returns the lines of a request's head, as the addon takes them. The URL is the one that middleware left, and so are the
 * headers: those that it added or deleted count.
 *
 * @throws TenonError `REQUEST` for a URL or a header with characters that HTTP does not allow
 */
export function headOf({ method = "GET", url = "/", headers, headersDistinct, rawHeaders }: HeadParts): string {
  const lines = [method, url];
  const dropped = new Set(
    String(headers.connection ?? "")
      .split(",")
      .map((name) => name.trim().toLowerCase()),
  );
  const isRepeated = rawHeaders.length / 2 > Object.keys(headers).length;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":") || name === "expect" || hopByHop.has(name) || dropped.has(name))
      continue;
    const sent = isRepeated ? distinct(rawHeaders, name, headersDistinct) : undefined;
    const isUnchanged = sent !== undefined && (name === "host" || value === sent.join(name === "cookie" ? "; " : ", "));
    for (const each of isUnchanged ? sent : [value].flat()) lines.push(name, String(each));
  }
  // HTTP/2 has the host as a pseudo header, and HTTP/1.0 need not have any.
  if (headers.host === undefined) lines.push("host", String(headers[":authority"] ?? "localhost"));
  if (lines.some((line) => unfit.test(line)))
    throw new TenonError("REQUEST", "the URL or a header has characters that HTTP does not allow");
  return `${lines.join("\n")}\n`;
}

interface HeadParts {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly headersDistinct?: NodeJS.Dict<string[]>;
  readonly rawHeaders: readonly string[];
}

/** The values of a header, line by line. Requests of HTTP/2 have only the raw ones. */
function distinct(
  raw: readonly string[],
  name: string,
  known: NodeJS.Dict<string[]> | undefined,
): string[] | undefined {
  if (known !== undefined) return known[name];
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
  return values.length === 0 ? undefined : values;
}

/** The other end of the request's connection; undefined for a Unix socket, and when the client has left. */
export function peerOf({ socket }: Incoming): NativePeer | undefined {
  const { remoteAddress: address } = socket;
  return address === undefined ? undefined : { address, secure: "encrypted" in socket && socket.encrypted === true };
}

/** Reports whether a request has a body. */
export function hasBody(request: Incoming): boolean {
  if ("stream" in request) return request.stream?.endAfterHeaders === false;
  const { "transfer-encoding": encoding, "content-length": length = "0" } = request.headers;
  return encoding !== undefined || Number(length) !== 0;
}

/** Reports whether a body has a transfer coding that Node's server has not decoded (RFC 9112, section 6.1). */
export function isCoded({ headers }: Incoming): boolean {
  const { "transfer-encoding": encoding = "chunked" } = headers;
  return encoding.trim().toLowerCase() !== "chunked";
}
