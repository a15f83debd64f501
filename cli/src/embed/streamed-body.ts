/** The body of a streamed response, as a `ReadableStream`. */
import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import type { Abortable } from "./request-body.ts";

/** The pieces of an answer that a module is streaming. */
export interface PieceSource {
  /**
   * Resolves to the next piece, or to null at the end. It is called for one piece at a time.
   *
   * @throws TenonError `RESPONSE` when the answer broke off
   */
  piece(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Ends the stream early: the module's generator runs its `finally`. */
  end(): void;
}

/** Ends the streams that nobody can read any more. */
const unread = new FinalizationRegistry<() => void>((stop) => stop());

/**
 * Makes the body of a streamed answer. It asks for a piece when its reader does. The stream ends early when the reader
 * cancels it, when the signal is aborted, and when the body is collected as garbage.
 *
 * @param ended called once, when nothing more comes
 */
export function streamedBody(source: PieceSource, signal: Abortable, ended: () => void): ReadableStream<Uint8Array> {
  // Weak, because the signal's listener must not keep a body that nobody reads.
  let controller: WeakRef<ReadableStreamDefaultController<Uint8Array>> | undefined;
  let isOver = false;
  const finish = () => {
    if (isOver) return false;
    isOver = true;
    signal.removeEventListener("abort", aborted);
    ended();
    return true;
  };
  const stop = () => {
    if (finish()) source.end();
  };
  function aborted(): void {
    stop();
    controller?.deref()?.error(signal.reason);
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = new WeakRef(own);
      },
      pull: async (own) => {
        try {
          const piece = await source.piece();
          if (isOver) return;
          if (piece !== null) own.enqueue(piece);
          else if (finish()) own.close();
        } catch (error) {
          if (finish()) own.error(error);
        }
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  unread.register(body, stop);
  signal.addEventListener("abort", aborted);
  return body;
}
