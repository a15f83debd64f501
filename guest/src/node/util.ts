/** `node:util` inside a component. */
import { isDeepEqual } from "./deep-equal.ts";
import { format, formatWithOptions, inspect } from "./inspect.ts";
import types from "./util-types.ts";

type Call = (this: unknown, ...args: never[]) => unknown;
type Callback = (error: unknown, value?: unknown) => void;

export const { TextDecoder, TextEncoder } = globalThis;
export { format, formatWithOptions, inspect, types };

const customPromisify = Symbol.for("nodejs.util.promisify.custom");

/** Makes a function that returns a promise from one whose last argument is a callback. */
export function promisify(call: Call & { [customPromisify]?: Call }): Call {
  if (typeof call !== "function") throw new TypeError('The "original" argument must be of type function');
  if (call[customPromisify]) return call[customPromisify];
  const promised = function (this: unknown, ...args: unknown[]) {
    return new Promise((resolve, reject) => {
      const callback: Callback = (error, value) => (error ? reject(error) : resolve(value));
      call.apply(this, [...args, callback] as never[]);
    });
  };
  Object.setPrototypeOf(promised, Object.getPrototypeOf(call));
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(call)) as Call;
}
promisify.custom = customPromisify;

/** Makes a function whose last argument is a callback from one that returns a promise. */
export function callbackify(call: Call): Call {
  return function (this: unknown, ...args: unknown[]) {
    const callback = args.pop() as Callback;
    Promise.resolve(call.apply(this, args as never[])).then(
      (value) => queueMicrotask(() => callback(null, value)),
      (error) => queueMicrotask(() => callback(error || new Error("Promise was rejected with a falsy value"))),
    );
  };
}

/** Makes one class inherit from another. */
export function inherits(child: Call & { super_?: unknown }, parent: Call): void {
  child.super_ = parent;
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

const warned = new Set<string>();

/** Wraps a function so that its first call prints a deprecation warning. */
export function deprecate<Deprecated extends Call>(call: Deprecated, message: string, code?: string): Deprecated {
  return function (this: unknown, ...args: never[]) {
    const id = code ?? message;
    if (!warned.has(id)) console.warn(`${code === undefined ? "" : `[${code}] `}DeprecationWarning: ${message}`);
    warned.add(id);
    return new.target ? Reflect.construct(call, args, new.target) : call.apply(this, args);
  } as unknown as Deprecated;
}

/** Returns a disabled logger, because a component has no `NODE_DEBUG`. */
export const debuglog = (): (() => void) & { enabled: boolean } => Object.assign(() => {}, { enabled: false });
export const debug = debuglog;

export const isDeepStrictEqual = (a: unknown, b: unknown): boolean => isDeepEqual(a, b, true);

/** Removes terminal color codes from a text. */
export function stripVTControlCharacters(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes.
  return text.replace(/[\u001b\u009b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]/g, "");
}

/** Replaces lone surrogates in a text. */
export const toUSVString = (text: string): string =>
  (String(text) as unknown as { toWellFormed(): string }).toWellFormed();

export const isArray = Array.isArray;
export const isBoolean = (value: unknown): boolean => typeof value === "boolean";
export const isBuffer = (value: unknown): boolean =>
  value instanceof Uint8Array && (value as { _isBuffer?: boolean })._isBuffer === true;
export const isDate = types.isDate;
export const isError = (value: unknown): boolean => value instanceof Error;
export const isFunction = (value: unknown): boolean => typeof value === "function";
export const isNull = (value: unknown): boolean => value === null;
export const isNullOrUndefined = (value: unknown): boolean => value === null || value === undefined;
export const isNumber = (value: unknown): boolean => typeof value === "number";
export const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
export const isPrimitive = (value: unknown): boolean => value === null || !/^(object|function)$/.test(typeof value);
export const isRegExp = types.isRegExp;
export const isString = (value: unknown): boolean => typeof value === "string";
export const isSymbol = (value: unknown): boolean => typeof value === "symbol";
export const isUndefined = (value: unknown): boolean => value === undefined;
export const _extend = Object.assign;

export default {
  TextDecoder,
  TextEncoder,
  _extend,
  callbackify,
  debug,
  debuglog,
  deprecate,
  format,
  formatWithOptions,
  inherits,
  inspect,
  isArray,
  isBoolean,
  isBuffer,
  isDate,
  isDeepStrictEqual,
  isError,
  isFunction,
  isNull,
  isNullOrUndefined,
  isNumber,
  isObject,
  isPrimitive,
  isRegExp,
  isString,
  isSymbol,
  isUndefined,
  promisify,
  stripVTControlCharacters,
  toUSVString,
  types,
};
