/** The calls of a runtime in this process that modules are answering, by the addon's numbers. */
import type { NativePeer, NativeResponse, Runtime as NativeRuntime } from "@tenon/native";
import { type ErrorCode, TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { type Abortable, type BodyRest, sendBody } from "./request-body.ts";
import type { PieceSource } from "./streamed-body.ts";

/** A request without its body. */
export interface Call {
  /** The lines of its head, as the addon takes them. */
  readonly head: string;
  /** The other end of its connection, if it came on one. */
  readonly peer?: NativePeer | undefined;
  readonly signal: Abortable;
}

interface Waiting {
  readonly resolve: (response: NativeResponse) => void;
  readonly reject: (reason: unknown) => void;
  /** Held, since a request's signal follows another one only while the request is there. */
  readonly call: Call;
  readonly aborted: () => void;
}

/** Requests that modules are answering. */
export class Calls {
  readonly #waiting: Map<number, Waiting>;
  readonly #native: InstanceType<ReturnType<typeof native>["Calls"]>;
  /** True when a call was answered on this thread in this turn of the event loop: there, one is enough. */
  #answered = false;

  constructor(runtime: NativeRuntime) {
    // The addon holds this function for as long as there is its side of this object, so it must not lead back to it.
    const waiting = new Map<number, Waiting>();
    this.#waiting = waiting;
    this.#native = new (native().Calls)(runtime, (call, response, failure) => {
      const waits = waiting.get(call);
      if (waits === undefined) return;
      waiting.delete(call);
      waits.call.signal.removeEventListener("abort", waits.aborted);
      if (response !== null) waits.resolve(response);
      else if (failure !== null) waits.reject(new TenonError(failure.code as ErrorCode, failure.message));
    });
  }

  /**
   * Sends a request with the body that has been read from it, or as far as it has. The rest is read while the module answers.
   *
   * @param lift makes the result of the response, in the turn of the event loop in which it comes
   */
  send<T>(request: Call, body: Buffer | BodyRest | undefined, lift: (response: NativeResponse) => T): Promise<T> {
    return new Promise((taken, reject) => {
      const { head, peer, signal } = request;
      const resolve = (response: NativeResponse) => taken(lift(response));
      const rest = body !== undefined && "reader" in body ? body : undefined;
      const call =
        rest === undefined
          ? this.#native.begin(head, body as Buffer | undefined, !this.#answered, peer)
          : this.#native.beginUpload(head, peer);
      if (typeof call !== "number") {
        this.#answered = true;
        // Yield first: a tight loop would starve the event loop.
        setImmediate(() => {
          this.#answered = false;
          if (!signal.aborted) return resolve(call);
          if (call.stream !== undefined) this.#native.endStream(call.stream);
          reject(signal.reason);
        });
        return;
      }
      // The rest is done while the module computes.
      const aborted = () => {
        this.#waiting.delete(call);
        this.#native.cancel(call);
        reject(signal.reason);
      };
      this.#waiting.set(call, { resolve, reject, call: request, aborted });
      signal.addEventListener("abort", aborted, { once: true });
      if (rest !== undefined) void this.#upload(call, rest, signal);
    });
  }

  /** The pieces of a streamed answer. */
  stream(stream: number): PieceSource {
    return {
      piece: () => fromNative(this.#native.piece(stream)) as Promise<Uint8Array<ArrayBuffer> | null>,
      end: () => this.#native.endStream(stream),
    };
  }

  /** Sends the rest of a body. When its stream fails before the answer is there, so does the call. */
  async #upload(call: number, rest: BodyRest, signal: Abortable): Promise<void> {
    const { reader } = rest;
    const over = new TenonError("REQUEST", "the request was answered before its body had been read");
    // A read that waits ends with this, however long the stream itself takes to be cancelled.
    const ended = fromNative(this.#native.uploadEnded(call)).then(() => {
      reader.cancel(signal.aborted ? signal.reason : over).catch(() => {});
    });
    try {
      await sendBody(rest, (piece) => fromNative(this.#native.push(call, asBuffer(piece))));
      this.#native.endUpload(call, false);
    } catch (error) {
      this.#native.endUpload(call, true);
      const waits = this.#waiting.get(call);
      if (waits !== undefined) {
        waits.call.signal.removeEventListener("abort", waits.aborted);
        this.#waiting.delete(call);
        this.#native.cancel(call);
        waits.reject(error);
      }
    }
    await ended;
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
