/** `node:util/types` inside a component. */
import { tagOf } from "./deep-equal.ts";

const tagged =
  (...tags: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === "object" && value !== null && tags.includes(tagOf(value));
const view = (name: string) => (value: unknown) => ArrayBuffer.isView(value) && tagOf(value) === name;

export const isAnyArrayBuffer = tagged("ArrayBuffer", "SharedArrayBuffer");
export const isArgumentsObject = tagged("Arguments");
export const isArrayBuffer = tagged("ArrayBuffer");
export const isArrayBufferView = (value: unknown): boolean => ArrayBuffer.isView(value);
export const isAsyncFunction = (value: unknown): boolean =>
  typeof value === "function" && ["AsyncFunction", "AsyncGeneratorFunction"].includes(tagOf(value));
export const isBigInt64Array = view("BigInt64Array");
export const isBigUint64Array = view("BigUint64Array");
export const isBooleanObject = tagged("Boolean");
export const isBoxedPrimitive = tagged("Number", "String", "Boolean", "Symbol", "BigInt");
export const isDataView = view("DataView");
export const isDate = (value: unknown): boolean => value instanceof Date;
export const isFloat32Array = view("Float32Array");
export const isFloat64Array = view("Float64Array");
export const isGeneratorFunction = (value: unknown): boolean =>
  typeof value === "function" && ["GeneratorFunction", "AsyncGeneratorFunction"].includes(tagOf(value));
export const isGeneratorObject = tagged("Generator", "AsyncGenerator");
export const isInt16Array = view("Int16Array");
export const isInt32Array = view("Int32Array");
export const isInt8Array = view("Int8Array");
export const isMap = (value: unknown): boolean => value instanceof Map;
export const isMapIterator = tagged("Map Iterator");
export const isNativeError = (value: unknown): boolean => value instanceof Error;
export const isNumberObject = tagged("Number");
export const isPromise = (value: unknown): boolean => value instanceof Promise;
export const isRegExp = (value: unknown): boolean => value instanceof RegExp;
export const isSet = (value: unknown): boolean => value instanceof Set;
export const isSetIterator = tagged("Set Iterator");
export const isSharedArrayBuffer = tagged("SharedArrayBuffer");
export const isStringObject = tagged("String");
export const isSymbolObject = (value: unknown): boolean => typeof value === "object" && value instanceof Symbol;
export const isTypedArray = (value: unknown): boolean => ArrayBuffer.isView(value) && !(value instanceof DataView);
export const isUint16Array = view("Uint16Array");
export const isUint32Array = view("Uint32Array");
/** Also holds for a `Buffer`. */
export const isUint8Array = view("Uint8Array");
export const isUint8ClampedArray = view("Uint8ClampedArray");
export const isWeakMap = (value: unknown): boolean => value instanceof WeakMap;
export const isWeakSet = (value: unknown): boolean => value instanceof WeakSet;

export default {
  isAnyArrayBuffer,
  isArgumentsObject,
  isArrayBuffer,
  isArrayBufferView,
  isAsyncFunction,
  isBigInt64Array,
  isBigUint64Array,
  isBooleanObject,
  isBoxedPrimitive,
  isDataView,
  isDate,
  isFloat32Array,
  isFloat64Array,
  isGeneratorFunction,
  isGeneratorObject,
  isInt16Array,
  isInt32Array,
  isInt8Array,
  isMap,
  isMapIterator,
  isNativeError,
  isNumberObject,
  isPromise,
  isRegExp,
  isSet,
  isSetIterator,
  isSharedArrayBuffer,
  isStringObject,
  isSymbolObject,
  isTypedArray,
  isUint16Array,
  isUint32Array,
  isUint8Array,
  isUint8ClampedArray,
  isWeakMap,
  isWeakSet,
};
