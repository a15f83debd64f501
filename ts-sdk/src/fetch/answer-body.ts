import { joinBytes } from "../http/bytes.ts";
import { checkBytes, type StreamSettings, soon } from "../http/pieces.ts";
import type { FetchReader } from "./types.ts";

/** The limit of bytes that are read before the head is sent. */
const MAX_AHEAD = 1024 * 1024;
/**
 * The turns of the microtask queue within which a body that needs nothing of the host is read, behind some middleware.
 */
const TURNS = 64;

/** A body that is not complete at once: the bytes read so far, and the rest. */
export interface PartialBody {
  readonly ahead: readonly Uint8Array[];
  /** The pending read. */
  readonly waiting: ReturnType<FetchReader["read"]> | undefined;
  readonly reader: FetchReader;
}

/**
 * Reads the part of a body that is ready.
 *
 * @returns the whole body, or its beginning when it is larger than 1 MiB or has to be awaited
 * @throws TypeError when a piece is not bytes; the reason of a stream that fails
 */
export async function readAhead(reader: FetchReader): Promise<Uint8Array | PartialBody> {
  const ahead: Uint8Array[] = [];
  let length = 0;
  while (length <= MAX_AHEAD) {
    const waiting = reader.read();
    const read = await soon(waiting, TURNS);
    if (read === undefined) return { ahead, waiting, reader };
    if (read.done) return joinBytes(ahead, length);
    const piece = checkBytes(read.value);
    ahead.push(piece);
    length += piece.length;
  }
  return { ahead, waiting: undefined, reader };
}

/**
 * Streams the bytes read so far, and then the rest.
 *
 * @param waited waits for the work given to `waitUntil`. It is called at the stream's end, because that work may write
 *   the stream.
 */
export function partialBody({ ahead, waiting, reader }: PartialBody, waited: () => Promise<void>): StreamSettings {
  let at = 0;
  let pending = waiting;
  async function next(): Promise<{ readonly done: boolean; readonly value?: unknown }> {
    if (at < ahead.length) return { done: false, value: ahead[at++] };
    const read = await (pending ?? reader.read());
    pending = undefined;
    if (read.done) await waited();
    return read;
  }
  async function end(): Promise<void> {
    await reader.cancel();
    await waited();
  }
  return { open: () => ({ next, return: end }), encode: checkBytes, drop: end };
}
