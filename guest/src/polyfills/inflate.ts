/**
 * Decompresses DEFLATE data (RFC 1951) piece by piece. The engine's own decompression accepts data that ends early, which no
 * caller can find out afterwards.
 */
import { type Code, codeOf, decodeLong } from "./huffman.ts";

/** The longest distance of a match. */
const WINDOW = 32 * 1024;
/** The longest match. */
const LONGEST = 258;
const PIECE = 32 * 1024;

const LENGTH_BASE = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
/** The order in which a block's head has the lengths of the codes for lengths. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const damaged = (what: string) => new TypeError(`DecompressionStream: the data is damaged: ${what}`);

let fixed: { readonly literals: Code; readonly distances: Code } | undefined;

function fixedCodes() {
  const lengths = new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280);
  fixed ??= { literals: codeOf(lengths, false) as Code, distances: codeOf(new Uint8Array(32).fill(5), false) as Code };
  return fixed;
}

/** Receives decompressed bytes, which are a copy of their own. */
export type Emit = (bytes: Uint8Array<ArrayBuffer>) => void;

/** A decompressor. Its input is given by `push`, and it keeps what it cannot decode yet. */
export class Inflate {
  /** True after the last block. */
  isDone = false;
  readonly #emit: Emit;
  #input: Uint8Array = new Uint8Array(0);
  /** The next byte of the input. */
  #at = 0;
  /** Bits that are read of the input and not decoded, the next one lowest. */
  #hold = 0;
  #bits = 0;
  /** The last 32 KiB that were emitted, and what is not emitted yet. */
  readonly #output = new Uint8Array(WINDOW + PIECE + LONGEST);
  #from = 0;
  #to = 0;
  #isLast = false;
  /** Bytes that are left of a stored block. */
  #stored = 0;
  #literals: Code | undefined;
  #distances: Code | undefined;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Decompresses as much as is there. @throws TypeError when the data is damaged */
  push(input: Uint8Array): void {
    const left = this.#input.length - this.#at;
    if (left === 0) this.#input = input;
    else {
      const joined = new Uint8Array(left + input.length);
      joined.set(this.#input.subarray(this.#at));
      joined.set(input, left);
      this.#input = joined;
    }
    this.#at = 0;
    try {
      while (!this.isDone && this.#step());
    } finally {
      this.#flush();
    }
    if (this.isDone) return;
    // The caller may change its bytes. A view may have a `slice` of its own, as that of Buffer, which copies nothing.
    this.#input = new Uint8Array(this.#input.subarray(this.#at));
    this.#at = 0;
  }

  /** Takes the input after the end. */
  rest(): Uint8Array {
    const rest = this.#input.subarray(this.#at);
    this.#input = new Uint8Array(0);
    this.#at = 0;
    return rest;
  }

  /** Decodes one part of a block; returns false when more input is needed. */
  #step(): boolean {
    if (this.#stored > 0) return this.#copyStored();
    if (this.#literals !== undefined) return this.#decode(this.#literals, this.#distances as Code);
    if (this.#isLast) {
      this.isDone = true;
      return false;
    }
    const [at, hold, bits] = [this.#at, this.#hold, this.#bits];
    if (this.#readHead()) return true;
    this.#at = at;
    this.#hold = hold;
    this.#bits = bits;
    return false;
  }

  /** Reads bits; -1 when they are not there. */
  #read(count: number): number {
    while (this.#bits < count) {
      if (this.#at >= this.#input.length) return -1;
      this.#hold |= (this.#input[this.#at++] as number) << this.#bits;
      this.#bits += 8;
    }
    const value = this.#hold & ((1 << count) - 1);
    this.#hold >>>= count;
    this.#bits -= count;
    return value;
  }

  /** Reads the head of a block; returns false when it is not all there. */
  #readHead(): boolean {
    const head = this.#read(3);
    if (head < 0) return false;
    const kind = head >> 1;
    if (kind === 3) throw damaged("a block of an unknown kind");
    if (kind === 0) {
      this.#read(this.#bits & 7);
      const length = this.#read(16);
      const inverted = length < 0 ? -1 : this.#read(16);
      if (inverted < 0) return false;
      if (inverted !== (~length & 0xffff)) throw damaged("the length of a stored block");
      this.#stored = length;
    } else if (kind === 1) {
      const { literals, distances } = fixedCodes();
      this.#literals = literals;
      this.#distances = distances;
    } else if (!this.#readCodes()) return false;
    this.#isLast = (head & 1) === 1;
    return true;
  }

  #readCodes(): boolean {
    const counts = this.#read(14);
    if (counts < 0) return false;
    const literals = (counts & 31) + 257;
    const distances = ((counts >> 5) & 31) + 1;
    if (literals > 286 || distances > 30) throw damaged("too many codes");
    const short = new Uint8Array(19);
    for (let i = 0; i < (counts >> 10) + 4; i++) {
      const length = this.#read(3);
      if (length < 0) return false;
      short[ORDER[i] as number] = length;
    }
    const code = codeOf(short, false);
    if (code === undefined) throw damaged("the codes of lengths");
    const lengths = new Uint8Array(literals + distances);
    for (let i = 0; i < lengths.length; ) {
      const symbol = this.#readSymbol(code);
      if (symbol < 0) return false;
      if (symbol < 16) {
        lengths[i++] = symbol;
        continue;
      }
      const more = this.#read(symbol === 16 ? 2 : symbol === 17 ? 3 : 7);
      if (more < 0) return false;
      const end = i + more + (symbol === 18 ? 11 : 3);
      if ((symbol === 16 && i === 0) || end > lengths.length) throw damaged("a repeated length");
      if (symbol === 16) lengths.fill(lengths[i - 1] as number, i, end);
      i = end;
    }
    if (lengths[256] === 0) throw damaged("a block without an end");
    const [first, second] = [codeOf(lengths.subarray(0, literals), true), codeOf(lengths.subarray(literals), true)];
    if (first === undefined || second === undefined) throw damaged("the codes of a block");
    this.#literals = first;
    this.#distances = second;
    return true;
  }

  /** Reads a symbol of a code whose lengths are at most 7; -1 when it is not there. */
  #readSymbol({ table }: Code): number {
    while (this.#bits < 7 && this.#at < this.#input.length) {
      this.#hold |= (this.#input[this.#at++] as number) << this.#bits;
      this.#bits += 8;
    }
    const found = table[this.#hold & 0x1ff] as number;
    const length = found & 15;
    if (length > this.#bits) return -1;
    this.#hold >>>= length;
    this.#bits -= length;
    return found >> 4;
  }

  #copyStored(): boolean {
    // No bits are held here, because the head is longer than what is read ahead.
    const count = Math.min(this.#stored, this.#input.length - this.#at, PIECE);
    if (count === 0) return false;
    this.#makeRoom(count);
    this.#output.set(this.#input.subarray(this.#at, this.#at + count), this.#to);
    this.#to += count;
    this.#at += count;
    this.#stored -= count;
    return true;
  }

  /** Decodes the symbols of a block; returns false when more input is needed. */
  #decode(literals: Code, distances: Code): boolean {
    const input = this.#input;
    const output = this.#output;
    const end = input.length;
    const { table } = literals;
    const { table: distanceTable } = distances;
    let at = this.#at;
    let hold = this.#hold;
    let bits = this.#bits;
    let to = this.#to;
    const full = output.length - LONGEST;
    for (;;) {
      const startAt = at;
      const startHold = hold;
      const startBits = bits;
      // Bits that are missing are read as zeros; a symbol that has some is read again later.
      while (bits < 15) {
        hold |= (input[at++] as number) << bits;
        bits += 8;
      }
      let found = table[hold & 0x1ff] as number;
      if (found === 0) found = decodeLong(literals, hold);
      let distance = 0;
      let length = 0;
      const isKnown = found > 0;
      const symbol = found >> 4;
      if (isKnown) {
        hold >>>= found & 15;
        bits -= found & 15;
        if (symbol > 256) {
          if (symbol > 285) found = -1;
          const extra = LENGTH_BITS[symbol - 257] as number;
          while (bits < 20) {
            hold |= (input[at++] as number) << bits;
            bits += 8;
          }
          length = (LENGTH_BASE[symbol - 257] as number) + (hold & ((1 << extra) - 1));
          hold >>>= extra;
          bits -= extra;
          let place = distanceTable[hold & 0x1ff] as number;
          if (place === 0) place = decodeLong(distances, hold);
          if (place <= 0 || place >> 4 > 29) found = -1;
          else {
            hold >>>= place & 15;
            bits -= place & 15;
            const more = DISTANCE_BITS[place >> 4] as number;
            while (bits < more) {
              hold |= (input[at++] as number) << bits;
              bits += 8;
            }
            distance = (DISTANCE_BASE[place >> 4] as number) + (hold & ((1 << more) - 1));
            hold >>>= more;
            bits -= more;
          }
        }
      }
      if (at - (bits >> 3) > end || (found <= 0 && at > end)) {
        this.#leave(startAt, startHold, startBits, to);
        return false;
      }
      if (found <= 0) throw damaged("an unknown code");
      if (symbol < 256) output[to++] = symbol;
      else if (symbol === 256) {
        this.#literals = undefined;
        break;
      } else {
        if (distance > to) throw damaged("a match before the beginning");
        if (distance >= length) {
          output.copyWithin(to, to - distance, to - distance + length);
          to += length;
        } else for (const last = to + length; to < last; to++) output[to] = output[to - distance] as number;
      }
      if (to >= full) {
        this.#to = to;
        this.#makeRoom(LONGEST);
        to = this.#to;
      }
    }
    this.#leave(at, hold, bits, to);
    return true;
  }

  /** Keeps the state of decoding, and gives whole bytes back that were read ahead: some may be beyond the input. */
  #leave(at: number, hold: number, bits: number, to: number): void {
    this.#at = at - (bits >> 3);
    this.#bits = bits & 7;
    this.#hold = hold & ((1 << this.#bits) - 1);
    this.#to = to;
  }

  /** Emits what is decoded, and keeps the last 32 KiB, unless there is room. */
  #makeRoom(count: number): void {
    if (this.#to + count <= this.#output.length) return;
    this.#flush();
    const kept = Math.min(this.#to, WINDOW);
    this.#output.copyWithin(0, this.#to - kept, this.#to);
    this.#to = kept;
    this.#from = kept;
  }

  #flush(): void {
    if (this.#to > this.#from) this.#emit(this.#output.slice(this.#from, this.#to));
    this.#from = this.#to;
  }
}
