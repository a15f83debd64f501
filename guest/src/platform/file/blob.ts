/** `Blob` (File API, section 3). Its bytes are in memory, and slices share them. */

import { defineInterface } from "../interface.ts";
import { addSerializable } from "../transfer.ts";

type Endings = "native" | "transparent";

/** The argument of `new Blob()` after the parts. */
export interface BlobOptions {
  readonly endings?: string;
  readonly type?: string;
}

const { isView } = ArrayBuffer;
const NOTHING: Uint8Array<ArrayBuffer> = new Uint8Array(0);

let bytesIn: (blob: Blob) => Uint8Array<ArrayBuffer>;
let isIn: (value: object) => value is Blob;

export class Blob {
  #bytes: Uint8Array<ArrayBuffer>;
  #type: string;

  // Parameters with defaults do not count for `length`.
  constructor(parts: Iterable<unknown> = [], options: BlobOptions = {}) {
    const all = listOf(parts);
    const { endings, type } = optionsOf(options);
    this.#bytes = joined(all, endings);
    this.#type = type;
  }

  get size(): number {
    return this.#bytes.length;
  }

  get type(): string {
    return this.#type;
  }

  slice(start: number = 0, end: number = this.size, contentType: string = ""): Blob {
    const bytes = this.#bytes;
    const from = positionOf(start, bytes.length);
    const to = positionOf(end, bytes.length);
    const blob = new Blob();
    blob.#bytes = from < to ? bytes.subarray(from, to) : NOTHING;
    blob.#type = typeOf(`${contentType}`);
    return blob;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes.slice();
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#bytes);
  }

  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const bytes = this.#bytes;
    let at = 0;
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        const piece = bytes.slice(at, at + PIECE);
        at += piece.length;
        if (piece.length > 0) controller.enqueue(piece);
        if (at < bytes.length) return;
        controller.close();
        // A pending read into a buffer ends by an answer of no bytes.
        controller.byobRequest?.respond(0);
      },
    }) as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  static {
    bytesIn = (blob) => blob.#bytes;
    isIn = (value): value is Blob => #bytes in value;
  }
}

defineInterface("Blob", Blob);
addSerializable(Blob.prototype, (blob) => (blob as Blob).slice(0, (blob as Blob).size, (blob as Blob).type));

/** The size of a stream's pieces, in bytes. */
const PIECE = 64 * 1024;

/** The bytes of a blob, without a copy: do not change them. @throws TypeError for another object */
export const bytesOfBlob = (blob: Blob): Uint8Array<ArrayBuffer> => bytesIn(blob);

/** Reports whether a value is a `Blob` or a `File`. */
export function isBlob(value: unknown): value is Blob {
  return typeof value === "object" && value !== null && isIn(value);
}

/** A list of any iterable object (Web IDL, section 3.2.21). Its iterator is asked for once. */
function listOf(parts: unknown): unknown[] {
  const isObject = (typeof parts === "object" || typeof parts === "function") && parts !== null;
  const iterate = isObject ? (parts as Partial<Iterable<unknown>>)[Symbol.iterator] : undefined;
  if (iterate === undefined || iterate === null) {
    throw new TypeError("Blob: the first argument must be an iterable object");
  }
  const iterator = Reflect.apply(iterate, parts, []);
  const list: unknown[] = [];
  for (const part of { [Symbol.iterator]: () => iterator }) {
    // A symbol has no text, so that `String` is not the conversion of Web IDL. Converted at once, as an iterator may change what it
    // returned.
    list.push(isBlob(part) || part instanceof ArrayBuffer || isView(part) ? part : `${part}`);
  }
  return list;
}

function optionsOf(options: unknown): { readonly endings: Endings; readonly type: string } {
  if (options === null) return { endings: "transparent", type: "" };
  if (typeof options !== "object" && typeof options !== "function") {
    throw new TypeError("Blob: the options must be an object");
  }
  const { endings: givenEndings, type: givenType } = options as BlobOptions;
  const endings = givenEndings === undefined ? "transparent" : `${givenEndings}`;
  if (endings !== "native" && endings !== "transparent") {
    throw new TypeError(`Blob: endings must be "native" or "transparent", but is ${JSON.stringify(endings)}`);
  }
  return { endings, type: givenType === undefined ? "" : typeOf(`${givenType}`) };
}

/** A type in lower case, without characters that no type has. */
function typeOf(type: string): string {
  return /^[ -~]*$/.test(type) ? type.toLowerCase() : "";
}

/** A position in a blob (File API, section 3.3.1). `start` and `end` are clamped `long long` values (Web IDL, section 3.2.4.9). */
function positionOf(given: unknown, size: number): number {
  const number = Number(given);
  // To the nearest whole number, and to the even one of two.
  const floor = Math.floor(number);
  const whole = Number.isFinite(number) && number - floor === 0.5 && floor % 2 === 0 ? floor : Math.round(number);
  if (Number.isNaN(whole)) return 0;
  return whole < 0 ? Math.max(size + whole, 0) : Math.min(whole, size);
}

function joined(parts: readonly unknown[], endings: Endings): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const part of parts) {
    let piece: Uint8Array;
    if (typeof part === "string") {
      piece = encoder.encode(endings === "native" ? part.replace(/\r\n?/g, "\n") : part);
    } else if (isBlob(part)) piece = bytesOfBlob(part);
    else if (isView(part)) piece = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    else piece = new Uint8Array(part as ArrayBuffer);
    pieces.push(piece);
    length += piece.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
