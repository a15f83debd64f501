/** The Canonical ABI of numbers and texts: how `linked-component.ts` reads and writes them in memory, and as flat numbers. */
import { bytes, origin, allocate as reserve, values, view } from "./linked-engine.ts";

/** A type's representation in memory and in numbers. */
export interface Codec {
  readonly size: number;
  readonly align: number;
  /** Types of its numbers: `i`, `I`, `f` and `F`. */
  readonly flat: string;
  store(at: number, value: unknown): void;
  load(at: number): unknown;
  lower(value: unknown, to: Flat[]): void;
  lift(from: Iterator<Flat>): unknown;
}

export type Flat = number | bigint;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Allocates memory until the end of the call. Returns its address. */
export function allocate(size: number, align: number): number {
  if (size === 0) return 0;
  const at = reserve(size, align);
  view(at + size);
  return at;
}

/** Returns the bytes at an address. */
export function bytesAt(at: number, length: number): Uint8Array<ArrayBuffer> {
  view(at + length);
  return new Uint8Array(bytes.buffer as ArrayBuffer, at - origin, length);
}

export const aligned = (at: number, align: number) => Math.ceil(at / align) * align;

/** A codec whose value is one number. */
function number(
  size: number,
  flat: string,
  store: (at: number, value: Flat) => void,
  load: (at: number) => Flat,
  toFlat: (value: unknown) => Flat,
  fromFlat: (value: Flat) => unknown,
): Codec {
  return {
    size,
    align: size,
    flat,
    store: (at, value) => store(at, toFlat(value)),
    load: (at) => fromFlat(load(at)),
    lower: (value, to) => void to.push(toFlat(value)),
    lift: (from) => fromFlat(from.next().value as Flat),
  };
}

const whole = (size: 1 | 2 | 4, toFlat: (value: unknown) => number, fromFlat: (value: number) => unknown): Codec => {
  const store = { 1: "setUint8", 2: "setUint16", 4: "setUint32" }[size] as "setUint16";
  const load = { 1: "getUint8", 2: "getUint16", 4: "getUint32" }[size] as "getUint16";
  return number(
    size,
    "i",
    (at, value) => values[store](at - origin, value as number, true),
    (at) => values[load](at - origin, true),
    toFlat,
    (value) => fromFlat(value as number),
  );
};

const same = (value: unknown) => value as Flat;

const long = (toFlat: (value: bigint) => bigint): Codec =>
  number(
    8,
    "I",
    (at, value) => values.setBigInt64(at - origin, value as bigint, true),
    (at) => values.getBigInt64(at - origin, true),
    (value) => BigInt.asIntN(64, value as bigint),
    (value) => toFlat(value as bigint),
  );

function toChar(value: unknown): number {
  const code = String(value).codePointAt(0);
  const isOne = code !== undefined && String.fromCodePoint(code) === value && !(code >= 0xd800 && code < 0xe000);
  if (!isOne) throw new TypeError(`${JSON.stringify(value)} is not one character`);
  return code;
}

export const primitives: Readonly<Record<string, Codec>> = {
  bool: whole(
    1,
    (value) => (value ? 1 : 0),
    (value) => value !== 0,
  ),
  u8: whole(
    1,
    (value) => Number(value) & 0xff,
    (value) => value & 0xff,
  ),
  s8: whole(
    1,
    (value) => (Number(value) << 24) >> 24,
    (value) => (value << 24) >> 24,
  ),
  u16: whole(
    2,
    (value) => Number(value) & 0xffff,
    (value) => value & 0xffff,
  ),
  s16: whole(
    2,
    (value) => (Number(value) << 16) >> 16,
    (value) => (value << 16) >> 16,
  ),
  u32: whole(
    4,
    (value) => Number(value) >>> 0,
    (value) => value >>> 0,
  ),
  s32: whole(
    4,
    (value) => Number(value) | 0,
    (value) => value | 0,
  ),
  u64: long((value) => BigInt.asUintN(64, value)),
  s64: long((value) => value),
  f32: number(
    4,
    "f",
    (at, value) => values.setFloat32(at - origin, value as number, true),
    (at) => values.getFloat32(at - origin, true),
    (value) => Math.fround(Number(value)),
    same,
  ),
  f64: number(
    8,
    "F",
    (at, value) => values.setFloat64(at - origin, value as number, true),
    (at) => values.getFloat64(at - origin, true),
    Number,
    same,
  ),
  char: whole(4, toChar, (value) => String.fromCodePoint(value)),
  string: counted(
    (value) => {
      if (typeof value !== "string") throw new TypeError(`${String(value)} is not a string`);
      const text = encoder.encode(value);
      const at = allocate(text.length, 1);
      if (text.length > 0) bytesAt(at, text.length).set(text);
      return [at, text.length];
    },
    (at, length) => {
      if (length === 0) return "";
      return decoder.decode(bytesAt(at, length));
    },
  ),
};

/** A codec whose value is an address and a length. */
export function counted(
  put: (value: unknown) => readonly [at: number, length: number],
  take: (at: number, length: number) => unknown,
): Codec {
  return {
    size: 8,
    align: 4,
    flat: "ii",
    store(at, value) {
      const [its, length] = put(value);
      values.setUint32(at - origin, its, true);
      values.setUint32(at + 4 - origin, length, true);
    },
    load: (at) => take(values.getUint32(at - origin, true), values.getUint32(at + 4 - origin, true)),
    lower: (value, to) => void to.push(...put(value)),
    lift: (from) => {
      const at = Number(from.next().value) >>> 0;
      return take(at, Number(from.next().value) >>> 0);
    },
  };
}
