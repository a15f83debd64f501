/** The pieces of a streamed response, each made when the host asks for it. */

import { BODY, BODY_STREAMED, streamKey } from "../abi.ts";
import { reportError } from "../app/report.ts";
import { encodeUtf8, type OpenStream, platform } from "../platform.ts";
import type { RawResponse } from "../raw.ts";
import { isBytes } from "./bytes.ts";
import { typeName } from "./type-name.ts";

/** A source of pieces; async iterators fit. */
export interface PieceReader {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  return?(): unknown;
}

/** Settings of a streamed answer. */
export interface StreamSettings {
  /** Opens the source. It is called when the host asks for the first piece. */
  open(): PieceReader;
  /** Converts the source's values to bytes. An exception breaks the answer off. */
  encode(value: unknown): Uint8Array;
  /** Releases a source that is never opened. */
  drop?(): unknown;
  /** A piece that is sent after each {@link HEARTBEAT_S} seconds without one. */
  readonly heartbeat?: Uint8Array;
}

/** The time between a stream's last piece and its heartbeat, in seconds. */
const HEARTBEAT_S = 15;

/** The time that one call of `next` waits for a piece, in milliseconds: between two calls, the host enforces its limits. */
const SLICE_MS = 1000;
/** The turns of the microtask queue in which a piece that needs nothing of the host arrives. */
const QUICK_TURNS = 8;

/** The last header, which announces a streamed answer to the host (`wit/streams.wit`). */
const STREAMED = [BODY, encodeUtf8(BODY_STREAMED)] as const;

/**
 * Prepares a streamed answer. The host asks for the pieces, or ends the stream early; the entry of a component hands both
 * to the stream at {@link streamKey}.
 *
 * @returns the function that starts the stream when the answer is sent, or drops it when the answer has no body. It
 *   returns the headers to append.
 */
export function streamOf(settings: StreamSettings): (isSent: boolean) => RawResponse["headers"] {
  return (isSent) => {
    if (!isSent) {
      ignoreFailure(() => settings.drop?.());
      return [];
    }
    // An instance streams one answer at a time: an abandoned stream is dropped here.
    platform[streamKey] = new Stream(settings);
    return [STREAMED];
  };
}

async function ignoreFailure(act: () => unknown): Promise<void> {
  try {
    await act();
  } catch {
    // No caller awaits this.
  }
}

/** The stream that an instance is sending. */
class Stream implements OpenStream {
  readonly #settings: StreamSettings;
  #reader: PieceReader | undefined;
  /** The answer to a call of `next` whose time ran out before a piece arrived. */
  #pending: Promise<RawResponse> | undefined;
  #quietS = 0;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
  }

  /** Answers 200 with the next piece, 202 when there is none yet, 204 at the end, and 500 after an exception. */
  async next(): Promise<RawResponse> {
    this.#pending ??= this.#read();
    const answer = await withinSlice(this.#pending);
    if (answer !== undefined) {
      this.#pending = undefined;
      this.#quietS = 0;
      return answer;
    }
    const { heartbeat } = this.#settings;
    this.#quietS += SLICE_MS / 1000;
    if (heartbeat === undefined || this.#quietS < HEARTBEAT_S) return { status: 202, headers: [] };
    this.#quietS = 0;
    return { status: 200, headers: [], body: heartbeat };
  }

  /** Runs the source's `return()`, and so a generator's `finally`, before it answers. */
  async cancel(): Promise<void> {
    platform[streamKey] = undefined;
    try {
      await (this.#reader ? this.#reader.return?.() : this.#settings.drop?.());
    } catch (thrown) {
      reportError(undefined, thrown);
    }
  }

  async #read(): Promise<RawResponse> {
    try {
      this.#reader ??= this.#settings.open();
      for (;;) {
        const { done, value } = await this.#reader.next();
        if (done) break;
        const body = await this.#encode(value);
        // Skipped, because the host ignores empty pieces.
        if (body.length > 0) return { status: 200, headers: [], body };
      }
      platform[streamKey] = undefined;
      return { status: 204, headers: [] };
    } catch (thrown) {
      platform[streamKey] = undefined;
      reportError(undefined, thrown);
      return { status: 500, headers: [] };
    }
  }

  async #encode(value: unknown): Promise<Uint8Array> {
    try {
      return this.#settings.encode(value);
    } catch (thrown) {
      await this.#reader?.return?.();
      throw thrown;
    }
  }
}

/** The answer, or `undefined` when it takes longer than a slice. A timer is set for an answer that needs the host. */
async function withinSlice(pending: Promise<RawResponse>): Promise<RawResponse | undefined> {
  const quick = await soon(pending, QUICK_TURNS);
  if (quick !== undefined) return quick;
  let timer: unknown;
  const slice = new Promise<undefined>((resolve) => {
    timer = platform.setTimeout(() => resolve(undefined), SLICE_MS);
  });
  const answer = await Promise.race([pending, slice]);
  platform.clearTimeout(timer);
  return answer;
}

/**
 * The value of a promise that needs nothing of the host, else `undefined`.
 *
 * @param turns the limit of turns of the microtask queue
 */
export async function soon<T>(promise: Promise<T>, turns: number): Promise<T | undefined> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < turns && !isSettled; turn++) await undefined;
  return isSettled ? promise : undefined;
}

/** Passes pieces on that are bytes. @throws TypeError for any other */
export function checkBytes(value: unknown): Uint8Array {
  if (isBytes(value)) return value;
  throw new TypeError(`a piece of a streamed body must be a text or a Uint8Array, not ${typeName(value)}`);
}
