import { Headers } from "../http/headers.ts";
import type { OpenStream } from "../platform.ts";
import type { RawResponse } from "../raw.ts";

/** An app's answer in a test. */
export class TestResponse {
  readonly status: number;
  readonly headers: Headers;
  /**
   * The pieces of a streamed body, each requested when the loop takes it. Leaving the loop early ends the stream, like
   * a client that goes away. A complete body is one piece. It can be read once.
   *
   * After an exception of the generator, reading throws an `Error` that the answer broke off.
   */
  readonly pieces: AsyncIterable<Uint8Array<ArrayBuffer>>;
  #body: Uint8Array<ArrayBuffer> | undefined;

  /** @internal */
  constructor(raw: RawResponse, stream?: OpenStream) {
    this.status = raw.status;
    this.headers = new Headers(stream === undefined ? raw.headers : raw.headers.slice(0, -1));
    if (stream === undefined) this.#body = new Uint8Array(raw.body ?? []);
    this.pieces = stream === undefined ? whole(this.#body as Uint8Array<ArrayBuffer>) : this.#read(stream);
  }

  /**
   * The body's bytes; none when there is no body.
   *
   * @throws TypeError when the body is streamed and `pieces` were not read to the end; `await answer.read()` does that
   */
  bytes(): Uint8Array<ArrayBuffer> {
    if (this.#body === undefined) throw new TypeError("the body is streamed: await answer.read() first");
    return this.#body;
  }

  /** The body as text; empty when there is no body. @throws TypeError when it is not UTF-8, and as `bytes` does. */
  text(): string {
    return new TextDecoder("utf-8", { fatal: true }).decode(this.bytes());
  }

  /** The body as JSON. @throws SyntaxError when it is not JSON, and TypeError as `text` does. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies without validating them first
  json(): any {
    return JSON.parse(this.text());
  }

  /**
   * Reads a streamed body to its end, for `bytes`, `text` and `json`. A complete body needs no reading.
   *
   * @throws Error when the answer broke off
   */
  async read(): Promise<this> {
    if (this.#body === undefined) for await (const _ of this.pieces);
    return this;
  }

  async *#read(stream: OpenStream): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = [];
    let isRunning = true;
    try {
      for (;;) {
        const { status, body } = await stream.next();
        if (status === 202) continue;
        isRunning = status === 200;
        if (status === 204) break;
        if (!isRunning) throw new Error("the answer broke off: the exception is on stderr");
        const piece = new Uint8Array(body ?? []);
        pieces.push(piece);
        yield piece;
      }
      this.#body = new Uint8Array(Buffer.concat(pieces));
    } finally {
      if (isRunning) await stream.cancel();
    }
  }
}

async function* whole(body: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (body.length > 0) yield body;
}
