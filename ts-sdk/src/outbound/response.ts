import { Headers } from "../http/headers.ts";
import { decodeUtf8Leniently } from "../platform.ts";
import type { RawHeader } from "../raw.ts";

/** The parts of an answer. */
export interface Received {
  readonly status: number;
  readonly headers: readonly RawHeader[] | readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A fetched answer of any status. Its body is read already, so its methods are synchronous. */
export class HttpResponse {
  readonly status: number;
  readonly #received: Received;
  readonly #body: Uint8Array<ArrayBuffer>;
  #headers: Headers | undefined;

  /** @internal */
  constructor(received: Received) {
    this.status = received.status;
    this.#received = received;
    this.#body = received.body;
  }

  /** The headers, in the order they came. */
  get headers(): Headers {
    // Parsed on demand: it costs more than the rest of a response, and few callers need it.
    this.#headers ??= new Headers(this.#received.headers);
    return this.#headers;
  }

  /** True for a success, 200 to 299. */
  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  /** The body's bytes; none when there is no body. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#body;
  }

  /** The body as text in UTF-8; invalid bytes become U+FFFD. */
  text(): string {
    return decodeUtf8Leniently(this.#body);
  }

  /**
   * The body as JSON, not validated: pass it to a schema.
   *
   * @throws SyntaxError when it is not JSON.
   */
  json(): unknown {
    return JSON.parse(this.text());
  }
}
