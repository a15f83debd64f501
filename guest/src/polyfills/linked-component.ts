/**
 * Functions of linked components: values in and out by the Canonical ABI. JavaScript is represented as jco does it.
 *
 * A lowered function has numbers as parameters (`flat`), and reads and writes the rest in the engine's memory.
 */
import { LinkedModule, refuseTopLevel } from "./linked.ts";
import { scope, view } from "./linked-engine.ts";
import { aligned, allocate, bytesAt, type Codec, counted, type Flat, primitives } from "./linked-primitives.ts";

/** A type of WIT, as `crates/link/src/component.rs` writes it, with names in camel case. */
export type Type =
  | string
  | { readonly list: Type }
  | { readonly option: Type }
  | { readonly tuple: readonly Type[] }
  | { readonly record: readonly (readonly [name: string, type: Type])[] }
  | { readonly variant: readonly (readonly [name: string, type: Type | null])[] }
  | { readonly enum: readonly string[] }
  | { readonly flags: readonly string[] }
  | { readonly result: readonly [ok: Type | null, error: Type | null] };

/** The error of a function whose result is an error. */
export class ComponentError extends Error {
  readonly payload: unknown;

  constructor(payload: unknown) {
    super(typeof payload === "string" ? payload : `${String(payload)} (see error.payload)`);
    this.payload = payload;
  }
}

type TypedArray = { readonly buffer: ArrayBuffer; readonly byteOffset: number; readonly byteLength: number };
type ArrayClass = {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer): TypedArray;
  from(value: Iterable<never>): TypedArray;
};

/** Lists of numbers are typed arrays. */
const arrays = {
  u8: Uint8Array,
  s8: Int8Array,
  u16: Uint16Array,
  s16: Int16Array,
  u32: Uint32Array,
  s32: Int32Array,
  u64: BigUint64Array,
  s64: BigInt64Array,
  f32: Float32Array,
  f64: Float64Array,
} as unknown as Readonly<Record<string, ArrayClass>>;

function list(type: Type): Codec {
  const array = typeof type === "string" ? arrays[type] : undefined;
  if (array !== undefined) {
    const { BYTES_PER_ELEMENT: size } = array;
    return counted(
      (value) => {
        const given = value instanceof (array as unknown as Uint8ArrayConstructor) ? value : undefined;
        const { buffer, byteOffset, byteLength } = given ?? array.from(value as Iterable<never>);
        const at = allocate(byteLength, size);
        if (byteLength > 0) bytesAt(at, byteLength).set(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
        return [at, byteLength / size];
      },
      (at, length) => {
        if (length === 0) return new array(new ArrayBuffer(0));
        return new array(bytesAt(at, length * size).slice().buffer);
      },
    );
  }
  const item = codec(type);
  return counted(
    (value) => {
      const items = Array.from(value as Iterable<unknown>);
      const at = allocate(items.length * item.size, item.align);
      for (const [index, each] of items.entries()) item.store(at + index * item.size, each);
      return [at, items.length];
    },
    (at, length) => {
      view(at + length * item.size);
      return Array.from({ length }, (_, index) => item.load(at + index * item.size));
    },
  );
}

/** Values one after the other. `get` and `make` are how JavaScript has them. */
function sequence(
  types: readonly Type[],
  get: (value: never, index: number) => unknown,
  make: (items: unknown[]) => unknown,
): Codec {
  const items = types.map(codec);
  const align = Math.max(1, ...items.map((item) => item.align));
  let size = 0;
  const offsets = items.map((item) => {
    const at = aligned(size, item.align);
    size = at + item.size;
    return at;
  });
  return {
    size: aligned(size, align),
    align,
    flat: items.map((item) => item.flat).join(""),
    store(at, value) {
      for (const [index, item] of items.entries())
        item.store(at + (offsets[index] as number), get(value as never, index));
    },
    load: (at) => make(items.map((item, index) => item.load(at + (offsets[index] as number)))),
    lower(value, to) {
      for (const [index, item] of items.entries()) item.lower(get(value as never, index), to);
    },
    lift: (from) => make(items.map((item) => item.lift(from))),
  };
}

const record = (fields: readonly (readonly [string, Type])[]): Codec =>
  sequence(
    fields.map(([, type]) => type),
    (value: Readonly<Record<string, unknown>>, index) => value[fields[index]?.[0] as string],
    (items) => Object.fromEntries(fields.map(([name], index) => [name, items[index]])),
  );

const tuple = (types: readonly Type[]): Codec =>
  sequence(
    types,
    (value: readonly unknown[], index) => value[index],
    (items) => items,
  );

/** Bits of a number, to be read as another type. */
const bits = new DataView(new ArrayBuffer(8));

/** Converts a number of a case to the type that all cases share. */
function widen(value: Flat, from: string, to: string): Flat {
  if (from === to) return value;
  if (from === "F") {
    bits.setFloat64(0, value as number);
    return bits.getBigInt64(0);
  }
  if (from === "f") bits.setFloat32(0, value as number);
  else bits.setInt32(0, value as number);
  return to === "I" ? BigInt(bits.getUint32(0)) : bits.getInt32(0);
}

function narrow(value: Flat, from: string, to: string): Flat {
  if (from === to) return value;
  if (to === "F") {
    bits.setBigInt64(0, value as bigint);
    return bits.getFloat64(0);
  }
  bits.setInt32(0, Number(BigInt.asIntN(32, BigInt(value))));
  return to === "f" ? bits.getFloat32(0) : bits.getInt32(0);
}

function joined(flats: readonly string[]): string {
  const length = Math.max(...flats.map((flat) => flat.length));
  return Array.from({ length }, (_, index) => {
    const types = new Set(flats.map((flat) => flat[index]).filter((type) => type !== undefined));
    if (types.size === 1) return [...types][0];
    return types.has("I") || types.has("F") ? "I" : "i";
  }).join("");
}

/** One of several cases. `split` tells a value's case and its content, and `make` joins them. */
function choice(
  types: readonly (Type | null)[],
  split: (value: never) => readonly [index: number, content: unknown],
  make: (index: number, content: unknown) => unknown,
): Codec {
  const cases = types.map((type) => (type === null ? undefined : codec(type)));
  const tag = primitives[types.length <= 256 ? "u8" : types.length <= 65_536 ? "u16" : "u32"] as Codec;
  const align = Math.max(tag.align, ...cases.map((each) => each?.align ?? 1));
  const offset = aligned(tag.size, Math.max(1, ...cases.map((each) => each?.align ?? 1)));
  const content = joined(cases.map((each) => each?.flat ?? ""));
  return {
    size: aligned(offset + Math.max(0, ...cases.map((each) => each?.size ?? 0)), align),
    align,
    flat: `i${content}`,
    store(at, value) {
      const [index, its] = split(value as never);
      tag.store(at, index);
      cases[index]?.store(at + offset, its);
    },
    load(at) {
      const index = tag.load(at) as number;
      return make(index, cases[index]?.load(at + offset));
    },
    lower(value, to) {
      const [index, its] = split(value as never);
      const own: Flat[] = [];
      const flat = cases[index]?.flat ?? "";
      cases[index]?.lower(its, own);
      to.push(index);
      for (const [place, type] of [...content].entries()) {
        if (place < own.length) to.push(widen(own[place] as Flat, flat[place] as string, type));
        else to.push(type === "I" ? 0n : 0);
      }
    },
    lift(from) {
      const index = Number(from.next().value);
      const all = [...content].map(() => from.next().value as Flat);
      const its = cases[index];
      if (its === undefined) return make(index, undefined);
      const own = [...its.flat].map((type, place) => narrow(all[place] as Flat, content[place] as string, type));
      return make(index, its.lift(own.values()));
    },
  };
}

/** A value `{ tag, val }` of named cases. */
function tagged(cases: readonly (readonly [name: string, type: Type | null])[]): Codec {
  const names = cases.map(([name]) => name);
  return choice(
    cases.map(([, type]) => type),
    ({ tag, val }: { readonly tag: string; readonly val?: unknown }) => [placeOf(tag, names), val],
    (index, val) => (cases[index]?.[1] == null ? { tag: names[index] } : { tag: names[index], val }),
  );
}

function placeOf(name: unknown, names: readonly string[]): number {
  const place = names.indexOf(name as string);
  if (place < 0) throw new TypeError(`${JSON.stringify(name)} is none of ${names.join(", ")}`);
  return place;
}

function option(type: Type): Codec {
  // Nothing inside of something would look like nothing.
  if (typeof type === "object" && "option" in type) {
    return tagged([
      ["none", null],
      ["some", type],
    ]);
  }
  return choice(
    [null, type],
    (value) => (value === undefined || value === null ? [0, undefined] : [1, value]),
    (index, value) => (index === 0 ? undefined : value),
  );
}

function flags(names: readonly string[]): Codec {
  const words = Math.ceil(names.length / 32);
  const one = primitives[names.length <= 8 ? "u8" : names.length <= 16 ? "u16" : "u32"] as Codec;
  const wordsOf = (value: Readonly<Record<string, unknown>>) =>
    Array.from({ length: words }, (_, word) =>
      names
        .slice(32 * word, 32 * word + 32)
        .reduce((all, name, bit) => (value[name] ? (all | (1 << bit)) >>> 0 : all), 0),
    );
  const made = (found: readonly number[]) =>
    Object.fromEntries(names.map((name, bit) => [name, (((found[bit >> 5] as number) >>> (bit & 31)) & 1) === 1]));
  return {
    size: words === 0 ? 0 : one.size * words,
    align: one.align,
    flat: "i".repeat(words),
    store(at, value) {
      for (const [index, word] of wordsOf(value as never).entries()) one.store(at + index * one.size, word);
    },
    load: (at) => made(Array.from({ length: words }, (_, index) => one.load(at + index * one.size) as number)),
    lower: (value, to) => void to.push(...wordsOf(value as never)),
    lift: (from) => made(Array.from({ length: words }, () => Number(from.next().value) >>> 0)),
  };
}

const results = (types: readonly [Type | null, Type | null]) =>
  tagged([
    ["ok", types[0]],
    ["err", types[1]],
  ]);

function codec(type: Type): Codec {
  if (typeof type === "string") return primitives[type] as Codec;
  if ("list" in type) return list(type.list);
  if ("option" in type) return option(type.option);
  if ("tuple" in type) return tuple(type.tuple);
  if ("record" in type) return record(type.record);
  if ("variant" in type) return tagged(type.variant);
  if ("flags" in type) return flags(type.flags);
  if ("result" in type) return results(type.result);
  const names = type.enum;
  return choice(
    names.map(() => null),
    (value) => [placeOf(value, names), undefined],
    (index) => names[index],
  );
}

/** The most numbers that a lowered function has as parameters; with more, they are in memory. */
const MAX_FLAT = 16;

/** A linked component, by the halves of its id. */
export class LinkedComponent extends LinkedModule {
  /** The function of a place among the component's functions. */
  typed(place: number, params: readonly Type[], result: Type | null): (...given: unknown[]) => unknown {
    let call: ((given: unknown[]) => unknown) | undefined;
    return (...given) => {
      refuseTopLevel();
      call ??= this.#bind(place, tuple(params), result === null ? undefined : codec(result));
      const its = call;
      const returned = scope(() => its(given));
      if (result === null || typeof result === "string" || !("result" in result)) return returned;
      const { tag, val } = returned as { readonly tag: string; readonly val?: unknown };
      if (tag === "err") throw new ComponentError(val);
      return val;
    };
  }

  #bind(place: number, given: Codec, result: Codec | undefined): (values: unknown[]) => unknown {
    const isLong = given.flat.length > MAX_FLAT;
    const isStored = result !== undefined && result.flat.length > 1;
    const params = `${isLong ? "i" : given.flat}${isStored ? "i" : ""}`;
    const call = this.function(place, params, isStored ? "" : (result?.flat ?? ""));
    return (all) => {
      const flat: Flat[] = [];
      if (isLong) {
        const at = allocate(given.size, given.align);
        given.store(at, all);
        flat.push(at);
      } else {
        given.lower(all, flat);
      }
      if (!isStored) {
        const returned = call(...flat) as Flat;
        return result?.lift([returned].values());
      }
      const at = allocate(result.size, result.align);
      call(...flat, at);
      return result.load(at);
    };
  }
}
