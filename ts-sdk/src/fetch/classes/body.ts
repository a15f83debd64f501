import { isBytes, joinBytes } from "../../http/bytes.ts";
import { decodeUtf8Leniently, encodeUtf8, platform } from "../../platform.ts";
import type { ArrivingBody } from "../../raw.ts";
import { abortableStream, type Signal } from "./abortable.ts";
import { encodeForm, type FormEntries } from "./encode-form.ts";
import { lazyStream } from "./lazy-stream.ts";

/** A stream of the engine's. */
export interface Stream {
  readonly locked: boolean;
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<unknown>;
  };
  tee(): [Stream, Stream];
}

/** A part of a body: bytes, or a `Blob`. */
export type BodyPart = Uint8Array | BlobLike;

/** The members of a `Blob` that are used. */
export interface BlobLike {
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The source of a body's bytes. */
type Source =
  | { readonly kind: "whole"; readonly value: Uint8Array | string }
  /** A `Blob`, or an encoded `FormData`. */
  | { readonly kind: "parts"; readonly value: readonly BodyPart[] }
  | { readonly kind: "upload"; readonly value: ArrivingBody }
  | { readonly kind: "stream"; readonly value: Stream };

/** Streams that were made here, so that a body can move to another message. */
const made = new WeakMap<object, Body>();

/** A body (Fetch, section 2.2.4): whole bytes become a stream only when a stream is asked for. */
export class Body {
  // No user sees a body, and a private field makes more work for the engine's interpreter.
  declare private source: Source;
  declare private opened: Stream | undefined;
  /** True once a method has read of it. */
  declare private isTaken: boolean;
  /** The signal of the call whose answer this is: the body cannot be read after it has aborted. */
  declare signal: Signal | undefined;

  constructor(source: Source) {
    this.source = source;
    if (source.kind === "stream") this.opened = source.value;
  }

  static {
    // The first values, which a constructor would take longer to write.
    Body.prototype.opened = undefined;
    Body.prototype.isTaken = false;
    Body.prototype.signal = undefined;
  }

  /** Reports whether somebody has read of it. */
  get isUsed(): boolean {
    return this.isTaken || (this.opened !== undefined && isDisturbed(this.opened));
  }

  /** The length of a body whose bytes are known. */
  get length(): number | undefined {
    const { kind, value } = this.source;
    if (kind === "whole") return bytesOf(value).length;
    if (kind !== "parts") return undefined;
    return value.reduce((length, part) => length + (isBytes(part) ? part.length : part.size), 0);
  }

  /** Reports whether the body can be made again: it was not made from a stream. */
  get isKnown(): boolean {
    return this.source.kind === "whole" || this.source.kind === "parts";
  }

  /** Takes the text or the bytes, if they are known and unread; the body is used then. */
  take(): Uint8Array | string | undefined {
    if (this.source.kind !== "whole" || this.isTaken || this.signal?.aborted) return undefined;
    if (this.opened !== undefined && (this.opened.locked || this.isUsed)) return undefined;
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
    if (kind === "parts") {
      this.use();
      const pieces: Uint8Array[] = [];
      for (const part of value) pieces.push(await bytesOfPart(part));
      return joinBytes(pieces, this.length as number);
    }
    const reader = value.getReader();
    this.isTaken = true;
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (!isBytes(read.value)) throw new TypeError(`${what}: a piece of the body must be a Uint8Array`);
      pieces.push(read.value);
      length += read.value.length;
    }
    return joinBytes(pieces, length);
  }

  /** A copy, for a message of its own. @throws TypeError when the body is used or locked */
  copy(what: string): Body {
    this.check(what);
    if (this.isKnown) {
      const copy = new Body(this.source);
      copy.signal = this.signal;
      return copy;
    }
    const isForeign = this.source.kind === "stream";
    const [own, other] = this.stream.tee();
    this.source = { kind: "stream", value: own };
    this.opened = own;
    // The pieces of our own streams are copied by `tee`.
    return new Body({ kind: "stream", value: isForeign ? passOn(other, cloned) : other });
  }

  /** Moves the body to another message, and marks this one as used. @throws TypeError when it is used or locked */
  move(what: string): Body {
    this.check(what);
    this.isTaken = true;
    const { opened } = this;
    return new Body(opened ? { kind: "stream", value: passOn(opened) } : this.source);
  }

  /** The stream of a body that nobody else reads. @throws TypeError when it is used or locked */
  takeStream(what: string): Stream {
    this.check(what);
    const { stream } = this;
    this.isTaken = true;
    return stream;
  }

  private check(what: string): void {
    if (this.isUsed || this.opened?.locked) throw new TypeError(`${what}: the body is used already`);
    if (this.signal?.aborted) throw this.signal.reason;
  }

  /** Marks the body as used; a stream made from it can't be read any more. */
  private use(): void {
    this.isTaken = true;
    this.opened?.getReader();
  }

  private open(): Stream {
    const { kind, value } = this.source;
    if (kind === "stream") return value;
    let next: () => Promise<Uint8Array | undefined>;
    if (kind === "upload") next = () => value.next();
    else {
      const parts: readonly BodyPart[] = kind === "whole" ? [bytesOf(value)] : value;
      let at = 0;
      next = async () => {
        // A copy, because the stream transfers its buffer.
        for (; at < parts.length; at++) {
          const bytes = await bytesOfPart(parts[at] as BodyPart);
          if (bytes.length === 0) continue;
          at++;
          return bytes.slice();
        }
        return undefined;
      };
    }
    const use = () => {
      this.isTaken = true;
    };
    const pull = async (controller: StreamController) => {
      use();
      const piece = await next();
      if (piece !== undefined) return controller.enqueue(piece);
      controller.close();
      // A pending read into a buffer ends with an answer of no bytes.
      controller.byobRequest?.respond(0);
    };
    const cancel = () => {
      use();
      if (kind === "upload") value.cancel?.();
    };
    const stream = lazyStream({ type: "bytes", pull, cancel });
    return this.signal === undefined ? stream : abortableStream(this.signal, stream);
  }
}

interface StreamController {
  readonly byobRequest?: { respond(length: number): void } | null;
  enqueue(piece: unknown): void;
  close(): void;
}

/** Reports whether a stream was read. Only the streams of `guest/src/platform/streams` say so, by a member of their library. */
function isDisturbed(stream: object): boolean {
  return (stream as { readonly _disturbed?: boolean })._disturbed === true;
}

/** A stream of another one's pieces, each converted. */
function passOn(stream: Stream, convert: (piece: unknown) => unknown = (piece) => piece): Stream {
  const reader = stream.getReader();
  const source = {
    async pull(controller: StreamController) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(convert(value));
    },
    cancel: (reason: unknown) => reader.cancel(reason),
  };
  return lazyStream(source);
}

/** A copy of a piece of bytes; a body has no other pieces. */
function cloned(piece: unknown): unknown {
  if (piece instanceof ArrayBuffer) return piece.slice(0);
  if (!ArrayBuffer.isView(piece)) return piece;
  const { buffer, byteOffset } = piece;
  const length = (piece as Partial<Uint8Array>).length ?? piece.byteLength;
  return Reflect.construct(piece.constructor, [buffer.slice(0), byteOffset, length]);
}

async function bytesOfPart(part: BodyPart): Promise<Uint8Array> {
  return isBytes(part) ? part : new Uint8Array(await part.arrayBuffer());
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
    if (init instanceof Body) return { body: init, type: undefined };
    if (typeof (init as Partial<Stream>).getReader === "function") {
      const stream = init as Stream;
      const known = made.get(stream);
      if (stream.locked || known?.isUsed || isDisturbed(stream)) {
        throw new TypeError("the stream is used already, or locked");
      }
      return { body: known ?? new Body({ kind: "stream", value: stream }), type: undefined };
    }
    if (isOf("URLSearchParams", init)) return whole(String(init), "application/x-www-form-urlencoded;charset=UTF-8");
    if (init instanceof ArrayBuffer) return whole(new Uint8Array(init).slice());
    if (isOf("Blob", init)) {
      const blob = init as BlobLike;
      return { body: new Body({ kind: "parts", value: [blob] }), type: blob.type || undefined };
    }
    if (isOf("FormData", init)) {
      const { parts, type } = encodeForm(init as FormEntries);
      return { body: new Body({ kind: "parts", value: parts }), type };
    }
  }
  return whole(`${init}`, "text/plain;charset=UTF-8");
}

function whole(value: Uint8Array | string, type?: string) {
  return { body: new Body({ kind: "whole", value }), type };
}
