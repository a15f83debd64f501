/** The calls of `Runtime.fetch` that modules are answering, by the addon's numbers. */
import type { NativeResponse, Runtime as NativeRuntime } from "@tenon/native";
import { type ErrorCode, TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { headersOf, WholeResponse } from "./answer.ts";
import { takenResponse } from "./platform.ts";
import { type BodyRest, sendBody } from "./request-body.ts";
import { streamedBody } from "./streamed-body.ts";

interface Waiting {
  readonly resolve: (response: NativeResponse) => void;
  readonly reject: (reason: unknown) => void;
  /** Held, since a request's signal follows another one only while the request is there. */
  readonly request: Request;
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
      waits.request.signal.removeEventListener("abort", waits.aborted);
      if (response !== null) waits.resolve(response);
      else if (failure !== null) waits.reject(new TenonError(failure.code as ErrorCode, failure.message));
    });
  }

  /**
   * Sends a request with the body that has been read from it, or as far as it has. The rest is read while the module answers.
   *
   * @param ended called at the end of a streamed answer, which is a `Response` of Node
   */
  send(request: Request, body: Buffer | BodyRest | undefined, ended: () => void): Promise<WholeResponse | Response> {
    return new Promise((taken, reject) => {
      const { signal } = request;
      const resolve = (response: NativeResponse) => {
        if (response.stream === undefined) taken(new WholeResponse(response.status, response.head, response.body));
        else taken(this.#streamed(response, response.stream, signal, ended));
      };
      const rest = body !== undefined && "reader" in body ? body : undefined;
      const call =
        rest === undefined
          ? this.#native.begin(head(request), body as Buffer | undefined, !this.#answered)
          : this.#native.beginUpload(head(request));
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
      this.#waiting.set(call, { resolve, reject, request, aborted });
      signal.addEventListener("abort", aborted, { once: true });
      if (rest !== undefined) void this.#upload(call, rest, signal);
    });
  }

  /** Sends the rest of a body. When its stream fails before the answer is there, so does the call. */
  async #upload(call: number, rest: BodyRest, signal: AbortSignal): Promise<void> {
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
        waits.request.signal.removeEventListener("abort", waits.aborted);
        this.#waiting.delete(call);
        this.#native.cancel(call);
        waits.reject(error);
      }
    }
    await ended;
  }

  #streamed({ status, head }: NativeResponse, stream: number, signal: AbortSignal, ended: () => void): Response {
    const source = {
      piece: () => fromNative(this.#native.piece(stream)) as Promise<Uint8Array<ArrayBuffer> | null>,
      end: () => this.#native.endStream(stream),
    };
    const Response = takenResponse();
    const body = streamedBody(source, signal, ended) as ReadableStream<Uint8Array<ArrayBuffer>>;
    return new Response(body, { status, headers: headersOf(head) });
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The lines of a request's head, as the addon takes them. The host is in the URL. */
function head({ method, url, headers }: Request): string {
  let lines = `${method}\n${url}\n`;
  headers.forEach((value, name) => {
    lines += `${name}\n${value}\n`;
  });
  return lines;
}
