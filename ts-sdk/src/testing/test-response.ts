import type { RawResponse } from "../app/app.ts";
import { Headers } from "../http/headers.ts";

/** What an app answered in a test. */
export class TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly #body: Uint8Array<ArrayBuffer> | undefined;

  /** @internal */
  constructor(raw: RawResponse) {
    this.status = raw.status;
    this.headers = new Headers(raw.headers);
    this.#body = raw.body === undefined ? undefined : new Uint8Array(raw.body);
  }

  /** The body's bytes; none when there is no body. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#body ?? new Uint8Array();
  }

  /** The body as text; empty when there is no body. @throws TypeError when it is not UTF-8. */
  text(): string {
    return new TextDecoder("utf-8", { fatal: true }).decode(this.bytes());
  }

  /** The body as JSON. @throws SyntaxError when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads into a body without proving what it is first
  json(): any {
    return JSON.parse(this.text());
  }
}
