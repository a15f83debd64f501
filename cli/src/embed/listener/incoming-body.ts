/** The body of a request of Node's server, read piece by piece. */
import type { BodyReader } from "../request-body.ts";
import type { Incoming } from "./incoming.ts";

/** Bytes of an unread body that are read and thrown away, so that its client sees the answer and can use its connection. */
const DISCARDED_BYTES = 32 * 1024 * 1024;
/** The time for it. */
const DISCARDED_MS = 30_000;

/** Reads a body: nothing is read before it is asked for, which holds the client up. */
export class IncomingBody implements BodyReader {
  readonly #request: Incoming;
  #failed: unknown;
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(request: Incoming) {
    this.#request = request;
    // An error without a listener would end the process.
    request.on("error", this.#onEnd).on("aborted", this.#onEnd).on("close", this.#onEnd);
    request.on("end", this.#onEnd).on("readable", this.#onReadable);
  }

  readonly #onReadable = (): void => this.#wake?.();
  readonly #onEnd = (error?: unknown): void => {
    const { readableEnded, errored } = this.#request;
    this.#isOver = true;
    if (!readableEnded) this.#failed ??= error ?? errored ?? new Error("the client broke off the request's body");
    this.#wake?.();
  };

  async read(): Promise<{ done: false; value: Uint8Array } | { done: true; value: undefined }> {
    for (;;) {
      if (this.#failed !== undefined) throw this.#failed;
      const piece = this.#isOver ? null : this.#take();
      if (piece !== null) return { done: false, value: piece };
      if (this.#isOver) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): Uint8Array | null {
    const piece: unknown = this.#request.read();
    if (piece === null) return null;
    // A middleware may have called `setEncoding`.
    return typeof piece === "string" ? Buffer.from(piece, this.#request.readableEncoding ?? "utf8") : (piece as Buffer);
  }

  /** Reads no more of it. The rest is thrown away. */
  async cancel(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake?.();
    void discard(this.#request.off("readable", this.#onReadable));
  }
}

/**
 * Reads the rest of a body that nobody wants. Resolves at its end. A client that does not stop has to live with the end of its
 * connection.
 */
export function discard(request: Pick<Incoming, "on" | "once" | "resume" | "destroy">): Promise<void> {
  let left = DISCARDED_BYTES;
  const late = setTimeout(() => request.destroy(), DISCARDED_MS);
  late.unref();
  request.on("data", (piece: Buffer | string) => {
    left -= piece.length;
    if (left < 0) request.destroy();
  });
  request.resume();
  return new Promise((resolve) => {
    request.once("end", resolve);
    request.once("close", () => {
      clearTimeout(late);
      resolve();
    });
  });
}
