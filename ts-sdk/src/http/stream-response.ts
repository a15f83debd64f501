import { encodeUtf8 } from "../platform.ts";
import { encodeEvent, type ServerSentEvent } from "./events.ts";
import { streamOf } from "./pieces.ts";
import { type HeadersInit, type Response, verbatimResponse } from "./response.ts";
import { type Piece, type StreamSource, settingsOf } from "./stream.ts";

/** Options of `stream`. */
export interface StreamInit<Status extends number = number> {
  /** The status; 200 by default. */
  readonly status: Status;
  /** Headers; `content-type` is `application/octet-stream` by default. */
  readonly headers?: HeadersInit;
}

/**
 * An answer whose body is sent piece by piece, while it is made. The source is asked for the next piece when the client
 * has received the last one. When the client goes away, or a limit is passed, a generator is ended and its `finally`
 * runs. An exception after the head breaks the answer off; it is reported like any other.
 *
 * @param source an async generator function, an async iterable or a `ReadableStream` of texts and bytes
 * @example stream(async function* () { for (let n = 0; n < 3; n++) yield `${n}\n`; })
 * @throws RangeError when the status is not from 200 to 599; TypeError for another source, or naming a header that
 *   can't be sent.
 */
export function stream(
  source: StreamSource<Piece>,
  init?: { readonly status?: undefined; readonly headers?: HeadersInit },
): Response<200, StreamSource<Piece>>;
export function stream<const Status extends number>(
  source: StreamSource<Piece>,
  init: StreamInit<Status>,
): Response<Status, StreamSource<Piece>>;
export function stream(
  source: StreamSource<Piece>,
  { status = 200, headers }: { readonly status?: number | undefined; readonly headers?: HeadersInit } = {},
): Response {
  const start = streamOf(settingsOf("stream", source));
  return verbatimResponse("stream", status, headers, "application/octet-stream", source, { start });
}

/** Options of `sse`. */
export interface SseInit {
  readonly headers?: HeadersInit;
}

const COMMENT = ":\n\n";

/**
 * An answer of server-sent events (HTML, section 9.2): `text/event-stream`, 200, not to be cached. A comment is sent
 * after 15 seconds without an event, so that proxies keep the connection. A client that reconnects sends the last `id`
 * as the header `last-event-id`.
 *
 * @param source an async generator function, an async iterable or a `ReadableStream` of events
 * @example sse(async function* () { yield { event: "tick", data: { n: 1 }, id: "1" }; })
 * @throws TypeError for another source, or naming a header that can't be sent. An event that can't be written breaks
 *   the answer off, as an exception of the generator does.
 */
export function sse(
  source: StreamSource<ServerSentEvent>,
  { headers }: SseInit = {},
): Response<200, StreamSource<ServerSentEvent>> {
  const heartbeat = encodeUtf8(COMMENT);
  const start = streamOf({ ...settingsOf("sse", source), encode: encodeEvent, heartbeat });
  const answer = verbatimResponse("sse", 200, headers, "text/event-stream", source, { start });
  return answer.headers.some(([name]) => name === "cache-control")
    ? answer
    : answer.header("cache-control", "no-cache");
}
