/** Exchanges by streamed calls of `sdk:core/calls` (`wit/calls.wit`). */
import { isBytes, joinBytes } from "../../http/bytes.ts";
import { encodeValue } from "../../http/headers.ts";
import { checkBytes } from "../../http/pieces.ts";
import type { CallFailure, CallOutcome, CallPiece, CallStreams, OutgoingCall } from "../../platform.ts";
import type { ArrivingBody, RawHeader } from "../../raw.ts";
import type { Signal } from "./abortable.ts";
import { bytesOf, type Stream } from "./body.ts";
import type { Hop } from "./fetch.ts";
import { isStream } from "./fetch.ts";
import { headersOf, unsorted } from "./headers.ts";
import type { ExchangeResponse } from "./response.ts";
import { statusTexts } from "./status-texts.ts";

/** Codes of the cases of `reason` in `sdk:core/calls`, by their numbers. */
const REASONS = ["refused", "unreachable", "timeout", "too_large", "invalid", "broken"] as const;

/** The most bytes of one write: as many as the host holds. */
const WRITE_BYTES = 64 * 1024;

/** Makes an exchange by a call of the host. The body of a short response is bytes, and of any other arrives when it is read. */
export async function exchangeByCalls(
  calls: CallStreams,
  hop: Hop,
  signal: Signal | undefined,
): Promise<ExchangeResponse> {
  if (signal?.aborted) throw signal.reason;
  const { body } = hop;
  const isStreamed = isStream(body);
  const handle = calls.start(callOf(hop), isStreamed);
  if (signal === undefined && !isStreamed) {
    const outcome = await calls.head(handle);
    if ("reason" in outcome) throw failure(outcome);
    const next = calls.read(handle);
    return responseOf(outcome, next === undefined ? outcome.body : new Arriving(calls, handle, outcome.body, next));
  }
  const arriving = new Arriving(calls, handle);
  if (signal !== undefined) arriving.follow(signal);
  if (isStreamed) arriving.send(body);
  const outcome = await Promise.race([calls.head(handle), arriving.stopped()]);
  if ("reason" in outcome) {
    arriving.end();
    throw failure(outcome);
  }
  const next = calls.read(handle);
  if (next === undefined) arriving.end();
  else arriving.begin(outcome.body, next);
  return responseOf(outcome, next === undefined ? outcome.body : arriving);
}

function responseOf(outcome: Exclude<CallOutcome, CallFailure>, body: Uint8Array | ArrivingBody): ExchangeResponse {
  const { status } = outcome;
  return { status, statusText: statusTexts[status] ?? "", headers: headersOf(outcome), body };
}

/** A call whose bodies are streamed: the rest of its response, and a request that is sent meanwhile. */
class Arriving implements ArrivingBody {
  readonly #calls: CallStreams;
  readonly #handle: number;
  /** The pieces that were read with the head. */
  #first: Uint8Array | undefined;
  #ahead: { readonly piece: CallPiece | Promise<CallPiece> } | undefined;
  /** True after the last piece. */
  #isOver = false;
  /** The reason why the call was stopped here. */
  #stop: { readonly reason: unknown } | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #unfollow: (() => void) | undefined;
  /** Ends the source of the request's body. */
  #drop: ((reason: unknown) => void) | undefined;

  constructor(calls: CallStreams, handle: number, first?: Uint8Array, next?: CallPiece | Promise<CallPiece>) {
    this.#calls = calls;
    this.#handle = handle;
    if (first !== undefined) this.begin(first, next);
  }

  /** Sets the first piece, and the outcome of the first read after it. */
  begin(first: Uint8Array, next: CallPiece | Promise<CallPiece>): void {
    if (first.length > 0) this.#first = first;
    this.#ahead = { piece: next };
  }

  /** Stops the call when a signal aborts. */
  follow(signal: Signal): void {
    const stop = () => this.#stopWith(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    this.#unfollow = () => signal.removeEventListener("abort", stop);
  }

  /** Rejects when the call was stopped here. */
  stopped(): Promise<never> {
    return new Promise((_, reject) => {
      if (this.#stop) reject(this.#stop.reason);
      this.#reject = reject;
    });
  }

  /** Writes the request's body. The call stops when its source fails. */
  async send(body: Stream): Promise<void> {
    const reader = body.getReader();
    this.#drop = (reason) => reader.cancel(reason).catch(() => {});
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        if (!(await this.#write(checkBytes(read.value)))) {
          // The other side wants no more of it.
          this.#drop?.(undefined);
          return;
        }
      }
      this.#calls.write(this.#handle, undefined);
      this.#drop = undefined;
    } catch (thrown) {
      this.#stopWith(thrown);
    }
  }

  /** Writes a piece, as fast as the host accepts it. False when it accepts no more. */
  async #write(piece: Uint8Array): Promise<boolean> {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + WRITE_BYTES);
      const accepted = this.#calls.write(this.#handle, part);
      if (accepted === undefined) return false;
      at += accepted;
      if (accepted < part.length) await this.#calls.room(this.#handle);
    }
    return true;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#stop) throw this.#stop.reason;
    if (this.#isOver) return undefined;
    if (this.#first) {
      const first = this.#first;
      this.#first = undefined;
      return first;
    }
    const ahead = this.#ahead;
    this.#ahead = undefined;
    const piece = await (ahead ? ahead.piece : this.#calls.read(this.#handle));
    if (isBytes(piece)) return piece;
    // The host reports that a call has ended which was stopped.
    if (this.#stop) throw (this.#stop as { readonly reason: unknown }).reason;
    this.end();
    if (piece === undefined) return undefined;
    this.#stop = { reason: failure(piece) };
    throw this.#stop.reason;
  }

  async rest(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let piece = await this.next(); piece !== undefined; piece = await this.next()) {
      pieces.push(piece);
      length += piece.length;
    }
    return joinBytes(pieces, length);
  }

  cancel(): void {
    this.#calls.cancel(this.#handle);
    this.end();
  }

  /** The call is over. */
  end(): void {
    this.#isOver = true;
    this.#unfollow?.();
    this.#drop?.(undefined);
    this.#drop = undefined;
  }

  #stopWith(reason: unknown): void {
    if (this.#isOver || this.#stop) return;
    this.#stop = { reason };
    this.#unfollow?.();
    this.#drop?.(reason);
    this.#drop = undefined;
    // First, because the end of the call settles its head.
    this.#reject?.(reason);
    this.#calls.cancel(this.#handle);
  }
}

/**
 * Fields that only the host sets, and that `fetch` leaves out (Fetch, section 2.2.2, forbidden request-headers): a request may have
 * them from the one that it forwards.
 */
const ofHost =
  /^(?:connection|content-length|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** The call's record, without the body of a stream. */
function callOf({ url, method, headers, body }: Hop): OutgoingCall {
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
    body: body === undefined || isStream(body) ? undefined : bytesOf(body),
    timeoutMs: 0,
    maxBytes: 0,
  };
}

/** The error of an exchange that failed (Fetch, section 5.6). Its cause has the host's reason as `code`. */
function failure({ reason, detail }: CallFailure): TypeError {
  const cause = Object.assign(new Error(detail), { code: REASONS[reason] ?? "broken" });
  return new TypeError(`fetch failed: ${detail}`, { cause });
}
