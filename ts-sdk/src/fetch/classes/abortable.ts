/** Work that a signal ends (DOM, section 3). */
import type { Stream } from "./body.ts";
import { lazyStream } from "./lazy-stream.ts";

/** The members of an `AbortSignal` that are used. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Awaits a promise until a signal aborts, whose reason is then thrown. */
export function abortable<T>(signal: Signal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const over = () => signal.removeEventListener("abort", abort);
    work.then(
      (value) => {
        over();
        resolve(value);
      },
      (error) => {
        over();
        reject(error);
      },
    );
  });
}

/** Hands a stream on until a signal aborts: it fails with the reason then. */
export function abortableStream(signal: Signal, stream: Stream): Stream {
  const reader = stream.getReader();
  let abort = () => {};
  const over = () => signal.removeEventListener("abort", abort);
  const source = {
    start(controller: { error(reason: unknown): void }) {
      abort = () => {
        controller.error(signal.reason);
        reader.cancel(signal.reason).catch(() => {});
      };
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    },
    async pull(controller: { enqueue(piece: Uint8Array): void; close(): void }) {
      const { done, value } = await reader.read();
      if (signal.aborted) return;
      if (!done) return controller.enqueue(value as Uint8Array);
      over();
      controller.close();
    },
    cancel(reason?: unknown) {
      over();
      return reader.cancel(reason);
    },
  };
  return lazyStream(source);
}
