import { isBytes, joinBytes } from "../../http/bytes.ts";
import type { Upload } from "../../http/upload.ts";
import { decodeUtf8Leniently, encodeUtf8, platform } from "../../platform.ts";

/** A stream of the engine's. */
export interface Stream {
  readonly locked: boolean;
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<unknown>;
  };
  tee(): [Stream, Stream];
}

/** The engine's own classes, before others stood in their place: they convert what is rarely used. */
export const native = { Request: platform.Request, Response: platform.Response, Headers: platform.Headers };

/** Where the bytes of a body are. */
type Source =
  | { readonly kind: "whole"; readonly value: Uint8Array | string }
  /** Given to the engine when it is read: a `Blob` or a `FormData`. */
  | { readonly kind: "native"; readonly value: object }
  | { readonly kind: "upload"; readonly value: Upload }
  | { readonly kind: "stream"; readonly value: Stream };

/** Streams that were made here, for a body to become that of another message as it is. */
const made = new WeakMap<object, Body>();

/** A body (Fetch, section 2.2.4): whole bytes are a stream only when somebody asks for one. */
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

  /** Bytes of a body that is there as a whole. */
  get length(): number | undefined {
    return this.source.kind === "whole" ? bytesOf(this.source.value).length : undefined;
  }

  /** The text or the bytes, when they are there and nobody has begun to read them; they are used up. */
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

  /** All bytes, or the text that they would be decoded to. @throws TypeError when it is used, or locked */
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
      if (!isBytes(read.value)) throw new TypeError(`${what}: a piece of the body is no Uint8Array`);
      pieces.push(read.value);
      length += read.value.length;
    }
    return joinBytes(pieces, length);
  }

  /** A copy, for a message that is read by itself. @throws TypeError when it is used, or locked */
  copy(what: string): Body {
    this.check(what);
    if (this.source.kind === "whole" || this.source.kind === "native") return new Body(this.source);
    const [own, other] = this.stream.tee();
    this.source = { kind: "stream", value: own };
    this.opened = own;
    return new Body({ kind: "stream", value: other });
  }

  /** The same body for another message; this one is used. @throws TypeError when it is used already, or locked */
  move(what: string): Body {
    this.check(what);
    this.isUsed = true;
    return new Body(this.opened ? { kind: "stream", value: this.opened } : this.source);
  }

  private check(what: string): void {
    if (this.isUsed || this.opened?.locked) throw new TypeError(`${what}: the body is used already`);
  }

  /** Uses the body up; a stream that was made of it cannot be read any more. */
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

/** The text of a whole body. */
export function textOf(whole: Uint8Array | string): string {
  return typeof whole === "string" ? whole : decodeUtf8Leniently(whole);
}

/** Tells a value of one of the engine's classes. */
function isOf(name: "Blob" | "FormData" | "URLSearchParams", value: object): boolean {
  const Class = (platform as unknown as Record<string, (new () => object) | undefined>)[name];
  return Class !== undefined && value instanceof Class;
}

/**
 * Makes a body of what a message is given (Fetch, section 5.2), and the content type that comes with it.
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

/** A form, whose boundary the engine chooses. */
function extractForm(form: object) {
  const response = new native.Response(form, {} as never) as unknown as {
    readonly headers: { get(name: string): string | null };
    readonly body: Stream;
  };
  const type = response.headers.get("content-type") ?? undefined;
  return { body: new Body({ kind: "stream", value: response.body }), type };
}
