import type { Headers } from "../http/headers.ts";
import { decodeUtf8Leniently } from "../platform.ts";

/** An answer that was fetched, whatever its status. Its body is there already: nothing more is awaited. */
export class HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly #body: Uint8Array<ArrayBuffer>;

  /** @internal */
  constructor(status: number, headers: Headers, body: Uint8Array<ArrayBuffer>) {
    this.status = status;
    this.headers = headers;
    this.#body = body;
  }

  /** Whether the status is a success, 200 to 299. */
  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  /** The body's bytes; none when there is no body. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#body;
  }

  /** The body as text in UTF-8; what is not UTF-8 becomes U+FFFD. */
  text(): string {
    return decodeUtf8Leniently(this.#body);
  }

  /**
   * The body as JSON, not validated: pass it to a schema.
   *
   * @throws SyntaxError when it is no JSON.
   */
  json(): unknown {
    return JSON.parse(this.text());
  }
}
