import { isBytes, joinBytes } from "../../http/bytes.ts";
import { decodeUtf8Leniently, encodeUtf8, platform } from "../../platform.ts";
import type { ArrivingBody } from "../../raw.ts";

/** A stream of the engine's. */
export interface Stream {
  readonly locked: boolean;
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<unknown>;
  };
  tee(): [Stream, Stream];
}

/** The engine's own classes, before ours replaced them: they convert rare types of body. */
export const native = { Request: platform.Request, Response: platform.Response, Headers: platform.Headers };

/** The source of a body's bytes. */
type Source =
  | { readonly kind: "whole"; readonly value: Uint8Array | string }
  /** A `Blob` or a `FormData`, which the engine reads on demand. */
  | { readonly kind: "native"; readonly value: object }
  | { readonly kind: "upload"; readonly value: ArrivingBody }
  | { readonly kind: "stream"; readonly value: Stream; readonly isForm?: boolean };

/** Streams that were made here, so that a body can move to another message. */
const made = new WeakMap<object, Body>();

/** A body (Fetch, section 2.2.4): whole bytes become a stream only when a stream is asked for. */
export class Body {
  // No user sees a body, and a private field makes more work for the engine's interpreter.
  declare private source: Source;
  declare private opened: Stream | undefined;
  /** True once somebody has read of it. */
  declare isUsed: boolean;

  constructor(source: Source) {
    this.source = source;
    this.opened = source.kind === "stream" ? source.value : undefined;
    this.isUsed = false;
  }

  /** The length of a body whose bytes are known. */
  get length(): number | undefined {
    return this.source.kind === "whole" ? bytesOf(this.source.value).length : undefined;
  }

  /** Reports whether the body can be made again: it was not made from a stream. */
  get isKnown(): boolean {
    const { kind } = this.source;
    return kind === "whole" || kind === "native" || (kind === "stream" && this.source.isForm === true);
  }

  /** Takes the text or the bytes, if they are known and unread; the body is used then. */
  take(): Uint8Array | string | undefined {
    if (this.source.kind !== "whole" || this.isUsed || this.opened?.locked) return undefined;
    this.use();
    return this.source.value;
  }

  get stream(): Stream {
    if (this.opened) return this.opened;
    const stream = this.open();
    this.opened = stream;
    made.set(stream, this);
    return stream;
  }

  /** Reads all bytes, or the text that they would be decoded to. @throws TypeError when the body is used or locked */
  async read(what: string): Promise<Uint8Array | string> {
    this.check(what);
    const { kind, value } = this.source;
    if (kind === "whole") {
      this.use();
      return value;
    }
    if (kind === "upload") {
      this.use();
      return value.rest();
    }
    const reader = this.stream.getReader();
    this.isUsed = true;
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (!isBytes(read.value)) throw new TypeError(`${what}: a piece of the body is not a Uint8Array`);
      pieces.push(read.value);
      length += read.value.length;
    }
    return joinBytes(pieces, length);
  }

  /** A copy, for a message of its own. @throws TypeError when the body is used or locked */
  copy(what: string): Body {
    this.check(what);
    if (this.source.kind === "whole" || this.source.kind === "native") return new Body(this.source);
    const [own, other] = this.stream.tee();
    this.source = { kind: "stream", value: own };
    this.opened = own;
    return new Body({ kind: "stream", value: other });
  }

  /** Moves the body to another message, and marks this one as used. @throws TypeError when it is used or locked */
  move(what: string): Body {
    this.check(what);
    this.isUsed = true;
    return new Body(this.opened ? { kind: "stream", value: this.opened } : this.source);
  }

  private check(what: string): void {
    if (this.isUsed || this.opened?.locked) throw new TypeError(`${what}: the body is used already`);
  }

  /** Marks the body as used; a stream made from it can't be read any more. */
  private use(): void {
    this.isUsed = true;
    this.opened?.getReader();
  }

  private open(): Stream {
    const { kind, value } = this.source;
    if (kind === "native") return (new native.Response(value, {} as never) as { body: Stream }).body;
    const use = () => {
      this.isUsed = true;
    };
    if (kind === "stream") return value;
    const pull =
      kind === "whole"
        ? async (controller: { enqueue(piece: Uint8Array): void; close(): void }) => {
            use();
            const bytes = bytesOf(value);
            if (bytes.length > 0) controller.enqueue(bytes);
            controller.close();
          }
        : async (controller: { enqueue(piece: Uint8Array): void; close(): void }) => {
            use();
            const piece = await value.next();
            if (piece) controller.enqueue(piece);
            else controller.close();
          };
    return new platform.ReadableStream({ pull, cancel: use }, { highWaterMark: 0 }) as Stream;
  }
}

/** The bytes of a whole body. */
export function bytesOf(whole: Uint8Array | string): Uint8Array {
  return typeof whole === "string" ? encodeUtf8(whole) : whole;
}

/** A text that its encoding and decoding would change: by a byte order mark, or a lone surrogate. */
const CHANGED = /^\ufeff|[\ud800-\udfff]/;

/** The text of a whole body, as decoding its bytes gives it. */
export function textOf(whole: Uint8Array | string): string {
  return typeof whole === "string" && !CHANGED.test(whole) ? whole : decodeUtf8Leniently(bytesOf(whole));
}

/** Reports whether a value is of one of the engine's classes. */
function isOf(name: "Blob" | "FormData" | "URLSearchParams", value: object): boolean {
  const Class = (platform as unknown as Record<string, (new () => object) | undefined>)[name];
  return Class !== undefined && value instanceof Class;
}

/**
 * Makes a body from a message's argument (Fetch, section 5.2), and the content type that fits it.
 *
 * @throws TypeError for a stream that is used or locked
 */
export function extractBody(init: unknown): { readonly body: Body; readonly type: string | undefined } {
  if (typeof init === "string") return whole(init, "text/plain;charset=UTF-8");
  if (ArrayBuffer.isView(init)) return whole(new Uint8Array(init.buffer, init.byteOffset, init.byteLength).slice());
  if (typeof init === "object" && init !== null) {
    if (typeof (init as Partial<Stream>).getReader === "function") {
      const stream = init as Stream;
      const known = made.get(stream);
      if (stream.locked || known?.isUsed) throw new TypeError("the stream is used already, or locked");
      return { body: known ?? new Body({ kind: "stream", value: stream }), type: undefined };
    }
    if (isOf("URLSearchParams", init)) return whole(String(init), "application/x-www-form-urlencoded;charset=UTF-8");
    if (init instanceof ArrayBuffer) return whole(new Uint8Array(init).slice());
    if (isOf("Blob", init)) {
      return { body: new Body({ kind: "native", value: init }), type: (init as { type: string }).type || undefined };
    }
    if (isOf("FormData", init)) return extractForm(init);
  }
  return whole(String(init), "text/plain;charset=UTF-8");
}

function whole(value: Uint8Array | string, type?: string) {
  return { body: new Body({ kind: "whole", value }), type };
}

/** Encodes a form, whose boundary the engine chooses. */
function extractForm(form: object) {
  const response = new native.Response(form, {} as never) as unknown as {
    readonly headers: { get(name: string): string | null };
    readonly body: Stream;
  };
  const type = response.headers.get("content-type") ?? undefined;
  return { body: new Body({ kind: "stream", value: response.body, isForm: true }), type };
}
