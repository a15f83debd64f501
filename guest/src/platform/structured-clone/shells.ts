/** The copies of single objects, before their parts are copied (HTML Standard, section 2.7.3). */
import { className } from "tenon:engine";

const { DOMException, Object, Reflect } = globalThis;
const { getOwnPropertyDescriptor } = Object;
const { apply } = Reflect;

type Getter = () => never;
const getter = (prototype: object, name: string): Getter =>
  getOwnPropertyDescriptor(prototype, name)?.get as unknown as Getter;

const TypedArray = Object.getPrototypeOf(Uint8Array).prototype as object;
const views = {
  buffer: getter(TypedArray, "buffer"),
  byteOffset: getter(TypedArray, "byteOffset"),
  length: getter(TypedArray, "length"),
};
const dataViews = {
  buffer: getter(DataView.prototype, "buffer"),
  byteOffset: getter(DataView.prototype, "byteOffset"),
  length: getter(DataView.prototype, "byteLength"),
};
const buffers = {
  slice: ArrayBuffer.prototype.slice,
  isDetached: getter(ArrayBuffer.prototype, "detached"),
  isResizable: getter(ArrayBuffer.prototype, "resizable"),
  maxByteLength: getter(ArrayBuffer.prototype, "maxByteLength"),
  byteLength: getter(ArrayBuffer.prototype, "byteLength"),
};
const dates = Date.prototype.getTime;
const expressions = { source: getter(RegExp.prototype, "source"), flags: getter(RegExp.prototype, "flags") };
const boxes: Readonly<Record<string, () => unknown>> = {
  BigInt: BigInt.prototype.valueOf,
  Boolean: Boolean.prototype.valueOf,
  Number: Number.prototype.valueOf,
  String: String.prototype.valueOf,
};
const constructors: Readonly<Record<string, new (buffer: unknown, offset: number, length: number) => object>> =
  Object.fromEntries(
    [
      ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
      ...[BigInt64Array, BigUint64Array, Float32Array, Float64Array, DataView],
      (globalThis as { Float16Array?: unknown }).Float16Array ?? DataView,
    ].map((each) => [(each as { name: string }).name, each as never]),
  );
const { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError } = globalThis;
const errors: Readonly<Record<string, ErrorConstructor>> = Object.fromEntries(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((each) => [each.name, each]),
);

/** Refuses a value. */
export function refuse(what: string): never {
  throw new DOMException(`${what} cannot be cloned`, "DataCloneError");
}

/** Copies a buffer, or refuses a detached one. */
function copyBuffer(buffer: object): ArrayBuffer {
  if (apply(buffers.isDetached, buffer, [])) refuse("A detached ArrayBuffer");
  if (!apply(buffers.isResizable, buffer, [])) return apply(buffers.slice as Getter, buffer, [0]);
  const maxByteLength = apply(buffers.maxByteLength, buffer, []);
  const copy = new ArrayBuffer(apply(buffers.byteLength, buffer, []), { maxByteLength } as never);
  new Uint8Array(copy).set(new Uint8Array(buffer as ArrayBuffer));
  return copy;
}

/** The type, the buffer and the place of a view; undefined for any other object. */
export interface View {
  readonly type: string;
  readonly buffer: object;
  readonly offset: number;
  readonly length: number;
}

export function viewOf(value: object, type: string): View | undefined {
  if (constructors[type] === undefined) return undefined;
  const get = type === "DataView" ? dataViews : views;
  let view: View;
  try {
    view = {
      type,
      buffer: apply(get.buffer, value, []),
      offset: apply(get.byteOffset, value, []),
      length: apply(get.length, value, []),
    };
  } catch {
    // A DataView whose buffer has shrunk or is detached.
    return refuse(`A ${type} outside of its buffer`);
  }
  if (view.length === 0 && className(view.buffer) === "ArrayBuffer" && apply(buffers.isDetached, view.buffer, [])) {
    refuse("A detached ArrayBuffer");
  }
  return view;
}

export function newView({ type, offset, length }: View, buffer: object): object {
  return new (constructors[type] as (typeof constructors)[string])(buffer, offset, length);
}

function newError(value: { readonly name?: unknown; readonly stack?: unknown }): object {
  const { name } = value;
  const text = name === undefined ? "Error" : `${name}`;
  const message = getOwnPropertyDescriptor(value, "message");
  const Class = Object.hasOwn(errors, text) ? (errors[text] as ErrorConstructor) : Error;
  const copy = new Class();
  const define = (key: string, found: unknown) =>
    Object.defineProperty(copy, key, { value: found, writable: true, configurable: true });
  if (message !== undefined && "value" in message) define("message", `${message.value}`);
  const { stack } = value;
  if (typeof stack === "string") define("stack", stack);
  return copy;
}

/** Copies an object without parts; undefined when it has some. */
export function copyOfLeaf(value: object, type: string): object | undefined {
  switch (type) {
    case "Date":
      return new Date(apply(dates, value, []));
    case "RegExp":
      return new RegExp(apply(expressions.source, value, []), apply(expressions.flags, value, []));
    case "ArrayBuffer":
      return copyBuffer(value);
    case "Error":
      return newError(value);
    case "DOMException": {
      const { message, name, stack } = value as DOMException;
      return Object.defineProperty(new DOMException(message, name), "stack", {
        value: stack,
        writable: true,
        configurable: true,
      });
    }
    default:
      return Object.hasOwn(boxes, type) ? Object(apply(boxes[type] as Getter, value, [])) : undefined;
  }
}
