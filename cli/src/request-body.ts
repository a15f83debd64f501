import { types } from "node:util";
import { TenonError } from "./errors.ts";

/** The limits of reading a body: bytes, and milliseconds. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/** An `AbortSignal`, or an object that is used like one. */
export type Abortable = Pick<AbortSignal, "aborted" | "reason" | "addEventListener" | "removeEventListener">;

/** The body did not come in time. */
export class BodyTimedOut extends Error {}

/**
 * Reads the body of a request. It returns one byte more than the limit for a body beyond it, and reads no further: the
 * runtime refuses that. @internal
 *
 * The body's stream is cancelled when it is not read to its end.
 *
 * @throws BodyTimedOut
 * @throws TypeError when it was read before, or has pieces other than bytes
 * @throws the signal's reason, or the error of the body's stream
 */
export async function readBody(
  { body, bodyUsed }: Request,
  signal: Abortable,
  { maxBodyBytes, bodyTimeoutMs }: BodyLimits,
): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  if (bodyUsed || body.locked) throw new TypeError("Body is unusable: Body has already been read");
  const reader = body.getReader();
  let stopped = undefined as { readonly reason: unknown } | undefined;
  // A read that waits ends with this, however long the stream itself takes to be cancelled.
  const stop = (reason: unknown) => {
    stopped ??= { reason };
    reader.cancel(reason).catch(() => {});
  };
  const aborted = () => stop(signal.reason);
  signal.addEventListener("abort", aborted);
  const late = setTimeout(() => stop(new BodyTimedOut(`the body did not come in ${bodyTimeoutMs} ms`)), bodyTimeoutMs);
  try {
    const pieces: Uint8Array[] = [];
    let length = 0;
    while (length <= maxBodyBytes) {
      const { done, value } = await reader.read();
      if (stopped !== undefined) throw stopped.reason;
      if (done) return joined(pieces, length);
      if (!types.isUint8Array(value)) {
        stop(new TypeError("a body consists of Uint8Arrays"));
        continue;
      }
      pieces.push(value);
      length += value.byteLength;
    }
    stop(new TenonError("REQUEST", `the body is larger than ${maxBodyBytes} bytes`));
    return joined(pieces, maxBodyBytes + 1);
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", aborted);
  }
}

function joined(pieces: readonly Uint8Array[], length: number): Buffer {
  const [first] = pieces;
  if (first === undefined || pieces.length > 1) return Buffer.concat(pieces, length);
  return Buffer.from(first.buffer, first.byteOffset, length);
}
