/** A response that is cheap to make: nearly all of the cost of Node's `Response` is the stream of its body. */
import { takenHeaders, takenResponse } from "./platform.ts";

const Headers = takenHeaders();
const Response = takenResponse();
type Headers = globalThis.Headers;
type Response = globalThis.Response;

const utf8 = new TextDecoder();

/** The headers of a head: names and values in turn, a line feed between each two. */
export function headersOf(head: string): Headers {
  const headers = new Headers();
  const lines = head === "" ? [] : head.split("\n");
  for (let i = 0; i < lines.length; i += 2) headers.append(lines[i] as string, lines[i + 1] as string);
  return headers;
}

/**
 * A `Response` whose body is there already. Its headers are made when they are asked for, and a stream only when `body` is
 * or `clone` is called; from then on a `Response` of Node does the rest.
 */
export class WholeResponse implements Response {
  readonly #status: number;
  readonly #body: Uint8Array<ArrayBuffer> | null;
  readonly #head: string;
  #headers: Headers | undefined;
  #used = false;
  #streaming: Response | undefined;

  /** `head` is names and values of the headers in turn, a line feed between each two. */
  constructor(status: number, head: string, body: Uint8Array<ArrayBuffer> | null) {
    this.#status = status;
    this.#head = head;
    // By the Fetch standard these have none.
    this.#body = status === 204 || status === 205 || status === 304 ? null : body;
  }

  get status(): number {
    return this.#status;
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status <= 299;
  }

  get statusText(): string {
    return "";
  }

  get type(): Response["type"] {
    return "default";
  }

  get url(): string {
    return "";
  }

  get redirected(): boolean {
    return false;
  }

  get headers(): Headers {
    this.#headers ??= headersOf(this.#head);
    return this.#headers;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#stream().body;
  }

  get bodyUsed(): boolean {
    return this.#streaming?.bodyUsed ?? this.#used;
  }

  async text(): Promise<string> {
    return this.#streaming?.text() ?? utf8.decode(this.#take());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#streaming !== undefined) return this.#streaming.arrayBuffer();
    const { buffer, byteOffset, byteLength } = this.#take();
    return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.arrayBuffer());
  }

  async blob(): Promise<Blob> {
    return this.#rest().blob();
  }

  async formData(): Promise<FormData> {
    return this.#rest().formData();
  }

  clone(): Response {
    const { body } = this.#stream().clone();
    return new Response(body, this.#init());
  }

  /** The same answer without its body, for HEAD. */
  withoutBody(): WholeResponse {
    return new WholeResponse(this.#status, this.#head, null);
  }

  /** Status and headers as a plain object: a class in the place of `Response` takes instances for its own kind. */
  #init(): ResponseInit {
    return { status: this.#status, headers: this.headers };
  }

  /** The body, which can be had once. */
  #take(): Uint8Array<ArrayBuffer> {
    if (this.#body === null) return new Uint8Array();
    if (this.#used) throw new TypeError("Body is unusable: Body has already been read");
    this.#used = true;
    return this.#body;
  }

  /** A response of Node that takes the body over. */
  #rest(): Response {
    const body = this.#streaming === undefined ? this.#take() : this.#streaming.body;
    return new Response(this.#body === null ? null : body, this.#init());
  }

  #stream(): Response {
    if (this.#streaming === undefined) {
      this.#streaming = new Response(this.#body, this.#init());
      // A body that has been read stays used.
      if (this.#used) void this.#streaming.arrayBuffer();
    }
    return this.#streaming;
  }
}

// Answers are instances of `Response` to `instanceof`, without the parts that its constructor makes.
Object.setPrototypeOf(WholeResponse.prototype, Response.prototype);
