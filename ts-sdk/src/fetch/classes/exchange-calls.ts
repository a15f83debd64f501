/** Exchanges by `sdk:core/calls`: whole requests and whole responses (`wit/calls.wit`). */
import { joinBytes } from "../../http/bytes.ts";
import { encodeValue } from "../../http/headers.ts";
import { checkBytes } from "../../http/pieces.ts";
import { type CancelCall, cancelKey, type OutgoingCall, platform, type StartCall } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";
import { abortable, type Signal } from "./abortable.ts";
import { bytesOf, type Stream } from "./body.ts";
import type { Exchange, Hop } from "./fetch.ts";
import { isStream } from "./fetch.ts";
import { headersOf, unsorted } from "./headers.ts";
import { statusTexts } from "./status-texts.ts";

/** Codes of the cases of `reason` in `sdk:core/calls`, by their numbers. */
const REASONS = ["refused", "unreachable", "timeout", "too_large", "invalid", "broken"] as const;

/** Makes exchanges by calls of the host. */
export function exchangeByCalls(start: StartCall): Exchange {
  return async (hop, signal) => {
    const call = await callOf(hop, signal);
    if (signal?.aborted) throw signal.reason;
    let number = 0;
    const pending = start(call, (given) => {
      number = given;
    });
    const outcome = await (signal === undefined ? pending : cancellable(signal, pending, () => number));
    if ("reason" in outcome) throw failure(outcome.reason, outcome.detail);
    return {
      status: outcome.status,
      statusText: statusTexts[outcome.status] ?? "",
      headers: headersOf(outcome),
      body: outcome.body,
    };
  };
}

/**
 * Fields that only the host sets, and that `fetch` leaves out (Fetch, section 2.2.2, forbidden request-headers): a request may have
 * them from the one that it forwards.
 */
const ofHost =
  /^(?:connection|content-length|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

async function callOf({ url, method, headers, body }: Hop, signal: Signal | undefined): Promise<OutgoingCall> {
  const content = isStream(body) ? await collected(body, signal) : body;
  const fields = unsorted(headers);
  const list: RawHeader[] = [];
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as (typeof fields)[number];
    if (!ofHost.test(field[0])) list.push([field[0], encodeValue(field[1])]);
  }
  return {
    method,
    url: url.href.replace(/#.*$/s, ""),
    headers: list,
    body: content === undefined ? undefined : bytesOf(content),
    timeoutMs: 0,
    maxBytes: 0,
  };
}

/** Reads a stream to its end. */
async function collected(stream: Stream, signal: Signal | undefined): Promise<Uint8Array> {
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const pending = reader.read();
    const { done, value } = await (signal === undefined ? pending : abortable(signal, pending));
    if (done) return joinBytes(pieces, length);
    const piece = checkBytes(value);
    pieces.push(piece);
    length += piece.length;
  }
}

async function cancellable<T>(signal: Signal, pending: Promise<T>, number: () => number): Promise<T> {
  try {
    return await abortable(signal, pending);
  } catch (thrown) {
    const cancel: CancelCall | undefined = platform[cancelKey];
    // It has ended when it failed for another reason.
    cancel?.(number(), { reason: REASONS.indexOf("broken"), detail: "the signal aborted" });
    throw thrown;
  }
}

/** The error of an exchange that failed (Fetch, section 5.6). Its cause has the host's reason as `code`. */
function failure(reason: number, detail: string): TypeError {
  const cause = Object.assign(new Error(detail), { code: REASONS[reason] ?? "broken" });
  return new TypeError(`fetch failed: ${detail}`, { cause });
}
