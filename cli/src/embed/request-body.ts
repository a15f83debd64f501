/** Bodies of requests, as the addon takes them: whole, or piece by piece. */
import { types } from "node:util";

/** An `AbortSignal`, or an object that is used like one. */
export type Abortable = Pick<AbortSignal, "aborted" | "reason" | "addEventListener" | "removeEventListener">;

/** The reader of a stream, or an object that is used like one. */
export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>>;

/** A body that is not there as a whole: what has been read of it, and the rest. */
export interface BodyRest {
  readonly pieces: readonly Uint8Array[];
  /** The read that waits. */
  readonly waiting: Promise<Read> | undefined;
  readonly reader: BodyReader;
}

/** The most bytes that are read before a request is sent; a server reads as many before it calls a module (`STREAMED_BYTES`). */
const MAX_AHEAD = 256 * 1024;
/** The largest piece that is given to the runtime at once. */
const MAX_PIECE = 256 * 1024;

/**
 * Reads the body of a request as far as it is there.
 *
 * @returns the whole body, or its beginning when it is larger or has to be waited for
 * @throws TypeError when it was read before, or has pieces other than bytes
 * @throws what the body's stream fails with
 */
export async function beginBody({ body, bodyUsed }: Request): Promise<Buffer | BodyRest> {
  if (body === null) return Buffer.alloc(0);
  if (bodyUsed || body.locked) throw new TypeError("Body is unusable: Body has already been read");
  return readAhead(body.getReader());
}

/** Reads a body from its beginning, as {@link beginBody}. */
export async function readAhead(reader: BodyReader): Promise<Buffer | BodyRest> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (length <= MAX_AHEAD) {
    const waiting = reader.read();
    const read = await atOnce(waiting);
    if (read === undefined) return { pieces, waiting, reader };
    if (read.done) return joined(pieces, length);
    pieces.push(checked(read.value, reader));
    length += read.value.byteLength;
  }
  return { pieces, waiting: undefined, reader };
}

/**
 * Sends the rest of a body, each piece when there is room for it. The body's stream is cancelled when it is not read to its end.
 *
 * @param push takes a piece, and resolves to false when nobody reads the body any more
 * @throws what {@link beginBody} throws
 */
export async function sendBody(
  { pieces, waiting, reader }: BodyRest,
  push: (piece: Uint8Array) => Promise<boolean>,
): Promise<void> {
  const pushAll = async (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.byteLength; at += MAX_PIECE) {
      if (!(await push(bytes.subarray(at, at + MAX_PIECE)))) return false;
    }
    return true;
  };
  for (const piece of pieces) {
    if (!(await pushAll(piece))) return;
  }
  for (let read = await (waiting ?? reader.read()); !read.done; read = await reader.read()) {
    if (!(await pushAll(checked(read.value, reader)))) return;
  }
}

/** The result of a promise in this turn of the event loop. */
async function atOnce<T>(promise: Promise<T>): Promise<T | undefined> {
  let turn: NodeJS.Immediate | undefined;
  const later = new Promise<undefined>((resolve) => {
    turn = setImmediate(resolve, undefined);
  });
  try {
    return await Promise.race([promise, later]);
  } finally {
    clearImmediate(turn);
  }
}

function checked(piece: unknown, reader: BodyReader): Uint8Array {
  if (types.isUint8Array(piece)) return piece;
  const error = new TypeError("a piece of a body must be a Uint8Array");
  reader.cancel(error).catch(() => {});
  throw error;
}

function joined(pieces: readonly Uint8Array[], length: number): Buffer {
  const [first] = pieces;
  if (first === undefined || pieces.length > 1) return Buffer.concat(pieces, length);
  return Buffer.from(first.buffer, first.byteOffset, length);
}
