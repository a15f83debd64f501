/** Decompresses the formats of `DecompressionStream`, with all their checks (RFC 1950, RFC 1951, RFC 1952). */
import { adler32, crc32 } from "./checksums.ts";
import { type Emit, Inflate } from "./inflate.ts";

/** A format of the Compression Standard. */
export type Format = "deflate" | "deflate-raw" | "gzip";

const failure = (what: string) => new TypeError(`DecompressionStream: ${what}`);

/** Decompresses data piece by piece. It throws for data that is damaged, ends early, or goes on after its end. */
export class Decompressor {
  readonly #format: Format;
  readonly #inflate: Inflate;
  /** The beginning of a head or a trailer that is not all there. */
  #kept: Uint8Array = new Uint8Array(0);
  #part: "head" | "data" | "trailer" | "end";
  #check: number;
  #length = 0;

  constructor(format: Format, emit: Emit) {
    this.#format = format;
    this.#part = format === "deflate-raw" ? "data" : "head";
    this.#check = format === "deflate" ? 1 : 0;
    this.#inflate = new Inflate((bytes) => {
      if (format === "deflate") this.#check = adler32(this.#check, bytes);
      if (format === "gzip") this.#check = crc32(this.#check, bytes);
      this.#length += bytes.length;
      emit(bytes);
    });
  }

  /** Decompresses a piece. @throws TypeError when the data is damaged, or goes on after its end */
  push(piece: Uint8Array): void {
    let input = piece;
    if (this.#part === "head") {
      input = joined(this.#kept, input);
      const length = this.#format === "gzip" ? gzipHead(input) : zlibHead(input);
      if (length === undefined) return void this.#keep(input);
      this.#part = "data";
      input = input.subarray(length);
      this.#kept = new Uint8Array(0);
    }
    if (this.#part === "data") {
      this.#inflate.push(input);
      if (!this.#inflate.isDone) return;
      input = this.#inflate.rest();
      this.#part = this.#format === "deflate-raw" ? "end" : "trailer";
    }
    if (this.#part === "trailer") {
      input = joined(this.#kept, input);
      const length = this.#format === "gzip" ? 8 : 4;
      if (input.length < length) return void this.#keep(input);
      this.#checkTrailer(new DataView(input.buffer, input.byteOffset, length));
      this.#part = "end";
      input = input.subarray(length);
    }
    if (input.length > 0) throw failure("there is more data after the end");
  }

  /** @throws TypeError when the data ends early */
  end(): void {
    if (this.#part !== "end") throw failure("the data ends early");
  }

  #keep(input: Uint8Array): void {
    // The caller may change its bytes.
    this.#kept = new Uint8Array(input);
  }

  #checkTrailer(trailer: DataView): void {
    const isGzip = this.#format === "gzip";
    if (trailer.getUint32(0, isGzip) !== this.#check) throw failure("the data is damaged: its check value differs");
    if (isGzip && trailer.getUint32(4, true) !== this.#length % 2 ** 32) {
      throw failure("the data is damaged: its length differs");
    }
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The length of a head (RFC 1950, section 2.2); undefined when it is not all there. */
function zlibHead(input: Uint8Array): number | undefined {
  const [method, flags] = input;
  if (method !== undefined && ((method & 15) !== 8 || method >> 4 > 7))
    throw failure("the data is not compressed by zlib");
  if (method === undefined || flags === undefined) return undefined;
  if (((method << 8) | flags) % 31 !== 0) throw failure("the data is not compressed by zlib");
  if (flags & 32) throw failure("the data needs a dictionary");
  return 2;
}

const MAGIC = [0x1f, 0x8b, 8];

/** The length of a head (RFC 1952, section 2.3); undefined when it is not all there. */
function gzipHead(input: Uint8Array): number | undefined {
  for (let i = 0; i < MAGIC.length && i < input.length; i++) {
    if (input[i] !== MAGIC[i]) throw failure("the data is not compressed by gzip");
  }
  const flags = input[3];
  if (flags === undefined) return undefined;
  if (flags & 0xe0) throw failure("the data has flags of gzip that are not known");
  let at = 10;
  if (flags & 4) {
    if (input.length < at + 2) return undefined;
    at += 2 + ((input[at] as number) | ((input[at + 1] as number) << 8));
  }
  // A name and a comment.
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue;
    const end = at > input.length ? -1 : input.indexOf(0, at);
    if (end < 0) return undefined;
    at = end + 1;
  }
  if (flags & 2) {
    if (input.length < at + 2) return undefined;
    const sum = (input[at] as number) | ((input[at + 1] as number) << 8);
    if (sum !== (crc32(0, input.subarray(0, at)) & 0xffff)) throw failure("the data is damaged: its head");
    at += 2;
  }
  return at > input.length ? undefined : at;
}
