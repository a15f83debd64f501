import { decodeValue, isToken } from "../../http/headers.ts";
import type { RawHeader } from "../../raw.ts";
import { pairIterators } from "../../web-idl/pair-iterators.ts";
import { shapeClass } from "../../web-idl/shape-class.ts";
import { defaults } from "./defaults.ts";

/** The argument of `new Headers()` (Fetch, section 5.1). */
export type HeadersInit = Headers | Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

/** Headers as the host passes them, decoded when they are first read. */
interface HeaderSource {
  readonly headers: readonly RawHeader[];
}

type Callback = (value: string, name: string, headers: Headers) => void;

const { ownKeys } = Reflect;
const isEnumerable = Object.prototype.propertyIsEnumerable;

/** Values that need no change and no error, as nearly all are. */
const CLEAN = /^[!-~](?:[ -~]*[!-~])?$/;
const OUTER_SPACE = /^[\t\n\r ]+|[\t\n\r ]+$/g;
const UNSAFE = /[\0\n\r]|[^\0-\xff]/;
const BEYOND_BYTES = /[^\0-\xff]/;
/** The list of all headers that have no cookie; it never changes. */
const NO_COOKIES: string[] = [];
const COOKIE = "set-cookie";

// Properties by symbol, because a private field is slower in the engine's interpreter.
const VALUES = Symbol();
const COOKIES = Symbol();
const SOURCE = Symbol();
const IMMUTABLE = Symbol();
const SORTED = Symbol();

/** Checked names, with their lower-case form. */
const known = new Map<string, string>();

/** `Headers` of the Fetch standard (section 5.1). It holds no host resource, unlike the engine's own. */
export class Headers {
  declare [VALUES]: Map<string, string>;
  declare [COOKIES]: string[];
  /** The request whose headers the host passes when they are first asked for. */
  declare [SOURCE]: HeaderSource | undefined;

  /** True for headers of an answer of `fetch` and its like (Fetch, section 5.1, guards). */
  declare [IMMUTABLE]: boolean | undefined;
  /** The pairs of the last iteration; `undefined` after a change. */
  declare [SORTED]: [string, string][] | undefined;

  // Parameters with defaults do not count for `length`.
  constructor(init: HeadersInit | undefined = undefined) {
    this[VALUES] = new Map();
    if (init === undefined) return;
    if (init === null || (typeof init !== "object" && typeof init !== "function")) {
      throw new TypeError("Headers: expects an object, or pairs of names and values");
    }
    const iterator = (init as Partial<Iterable<unknown>>)[Symbol.iterator];
    // In this order, because a record's prototype must not be asked for (Web IDL, section 3.2.24).
    if (iterator === entries && init instanceof Headers) {
      const given = loaded(init);
      this[VALUES] = new Map(given[VALUES]);
      if (given[COOKIES].length > 0) this[COOKIES] = [...given[COOKIES]];
      return;
    }
    if (iterator !== undefined && iterator !== null) {
      for (const pair of init as Iterable<unknown>) {
        if ((typeof pair !== "object" && typeof pair !== "function") || pair === null) throw notPair();
        const [...both] = pair as Iterable<string>;
        if (both.length !== 2) throw notPair();
        add(this, both[0] as string, both[1] as string);
      }
      return;
    }
    // By index: the engine takes ten times as long for `for…of`.
    const names = ownKeys(init);
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string | symbol;
      if (!isEnumerable.call(init, name)) continue;
      if (typeof name === "symbol") throw new TypeError("Headers: a name must be a text");
      // Before the value is read (Web IDL, section 3.2.24).
      if (!known.has(name) && BEYOND_BYTES.test(name)) checkName(name);
      add(this, name, (init as Record<string, string>)[name] as string);
    }
  }

  append(name: string, value: string): void {
    // biome-ignore lint/complexity/noArguments: a rest parameter would cost each call an array.
    if (value === undefined && arguments.length < 2) throw tooFew("append", 2);
    checkMutable(this);
    this[SORTED] = undefined;
    add(loaded(this), name, value);
  }

  delete(name: string): void {
    // biome-ignore lint/complexity/noArguments: as above.
    if (name === undefined && arguments.length < 1) throw tooFew("delete", 1);
    const key = checkName(name);
    checkMutable(this);
    const { [VALUES]: values } = loaded(this);
    this[SORTED] = undefined;
    if (key === COOKIE) this[COOKIES] = [];
    else values.delete(key);
  }

  get(name: string): string | null {
    // biome-ignore lint/complexity/noArguments: as above.
    if (name === undefined && arguments.length < 1) throw tooFew("get", 1);
    const key = checkName(name);
    const { [VALUES]: values, [COOKIES]: cookies } = loaded(this);
    if (key !== COOKIE) return values.get(key) ?? null;
    return cookies.length === 0 ? null : cookies.join(", ");
  }

  getSetCookie(): string[] {
    return [...loaded(check(this))[COOKIES]];
  }

  has(name: string): boolean {
    // biome-ignore lint/complexity/noArguments: as above.
    if (name === undefined && arguments.length < 1) throw tooFew("has", 1);
    const key = checkName(name);
    const { [VALUES]: values, [COOKIES]: cookies } = loaded(this);
    return key === COOKIE ? cookies.length > 0 : values.has(key);
  }

  set(name: string, value: string): void {
    // biome-ignore lint/complexity/noArguments: as above.
    if (value === undefined && arguments.length < 2) throw tooFew("set", 2);
    const key = checkName(name);
    const text = checkValue(name, value);
    checkMutable(this);
    const { [VALUES]: values } = loaded(this);
    this[SORTED] = undefined;
    if (key === COOKIE) this[COOKIES] = [text];
    else values.set(key, text);
  }

  forEach(callback: Callback, ...[self]: readonly [self?: unknown]): void {
    sorted(this);
    if (typeof callback !== "function") throw new TypeError("Headers.forEach: expects a function");
    for (let i = 0; ; i++) {
      const pair = sorted(this)[i];
      if (pair === undefined) return;
      callback.call(self, pair[1], pair[0], this);
    }
  }

  entries(): IterableIterator<[string, string]> {
    return iterate(check(this), "entries");
  }

  keys(): IterableIterator<string> {
    return iterate(check(this), "keys");
  }

  values(): IterableIterator<string> {
    return iterate(check(this), "values");
  }

  declare [Symbol.iterator]: () => IterableIterator<[string, string]>;
}

const { entries } = Headers.prototype;
Object.defineProperty(Headers.prototype, Symbol.iterator, { value: entries, writable: true, configurable: true });
shapeClass("Headers", Headers);
defaults(Headers.prototype, {
  [COOKIES]: NO_COOKIES,
  [SOURCE]: undefined,
  [IMMUTABLE]: undefined,
  [SORTED]: undefined,
});

const iterate = /* @__PURE__ */ pairIterators<Headers>("Headers", sorted);

/** @throws TypeError for another object */
function check(headers: Headers): Headers {
  if (headers[VALUES] === undefined) throw new TypeError("the receiver must be Headers");
  return headers;
}

function tooFew(method: string, count: number): TypeError {
  return new TypeError(`Headers.${method}: expects ${count === 1 ? "a name" : "a name and a value"}`);
}

function notPair(): TypeError {
  return new TypeError("Headers: each pair must have a name and a value");
}

function checkMutable(headers: Headers): void {
  if (headers[IMMUTABLE]) throw new TypeError("Headers: they are immutable; make new Headers(…) of them");
}

/** Reports whether headers are immutable. */
export function isFrozen(headers: Headers): boolean {
  return headers[IMMUTABLE] === true;
}

/** Makes headers immutable. */
export function freeze(headers: Headers): Headers {
  headers[IMMUTABLE] = true;
  return headers;
}

function add(headers: Headers, name: string, value: string): void {
  const key = checkName(name);
  const text = checkValue(name, value);
  if (key === COOKIE) addCookie(headers, text);
  else join(headers[VALUES], key, text);
}

/** The headers of a request, read when they are first asked for. */
export function headersOf(raw: HeaderSource): Headers {
  const headers = new Headers();
  headers[SOURCE] = raw;
  return headers;
}

/** Returns the headers after reading them from the host. */
function loaded(headers: Headers): Headers {
  const source = headers[SOURCE];
  if (source === undefined) return headers;
  headers[SOURCE] = undefined;
  const { [VALUES]: values } = headers;
  const { headers: given } = source;
  for (let i = 0; i < given.length; i++) {
    const header = given[i] as RawHeader;
    const name = header[0].toLowerCase();
    const value = decodeValue(header[1]);
    if (name === COOKIE) addCookie(headers, value);
    else join(values, name, value);
  }
  return headers;
}

function addCookie(headers: Headers, value: string): void {
  if (headers[COOKIES] === NO_COOKIES) headers[COOKIES] = [value];
  else headers[COOKIES].push(value);
}

function join(values: Map<string, string>, name: string, value: string): void {
  const before = values.get(name);
  values.set(name, before === undefined ? value : `${before}, ${value}`);
}

/** Sets `content-type` where there is none, to a value that needs no check. */
export function setType(headers: Headers, type: string): void {
  const { [VALUES]: values } = headers;
  if (values.has("content-type")) return;
  headers[SORTED] = undefined;
  values.set("content-type", type);
}

/** The one header of those that have a content type and nothing else. */
export function onlyType(headers: Headers): string | undefined {
  const { [VALUES]: values } = headers;
  if (headers[SOURCE] !== undefined || values.size !== 1 || headers[COOKIES].length > 0) return undefined;
  return values.get("content-type");
}

/** Reads the headers from the host now, because it takes their memory back. */
export function keepHeaders(headers: Headers): void {
  loaded(headers);
}

/** All names and values in any order; each cookie is separate. */
export function unsorted(headers: Headers): [name: string, value: string][] {
  const { [VALUES]: values, [COOKIES]: cookies } = loaded(headers);
  const all = [...values];
  for (let i = 0; i < cookies.length; i++) all.push([COOKIE, cookies[i] as string]);
  return all;
}

function sorted(headers: Headers): readonly [string, string][] {
  const known = headers[SORTED];
  if (known !== undefined) return known;
  const pairs = unsorted(headers).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  headers[SORTED] = pairs;
  return pairs;
}

function checkName(name: string): string {
  const found = known.get(name);
  if (found !== undefined) return found;
  const text = `${name}`;
  if (!isToken(text)) throw new TypeError(`Headers: ${JSON.stringify(text)} is not a header name`);
  const key = text.toLowerCase();
  if (known.size < 256) known.set(text, key);
  return key;
}

function checkValue(name: string, value: string): string {
  if (typeof value === "string" && CLEAN.test(value)) return value;
  const text = `${value}`.replace(OUTER_SPACE, "");
  if (UNSAFE.test(text)) {
    throw new TypeError(`Headers: the value of "${name}" must have no line break, no NUL, and nothing above U+00FF`);
  }
  return text;
}
