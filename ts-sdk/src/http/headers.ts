/** Headers: the class that handlers read, and checks of names and values. */
import { encodeUtf8 } from "../platform.ts";

/** The SDK's headers, not the web's `Headers`: those of a request or a fetched answer, in the order they came. Names are case-insensitive. */
export class Headers implements Iterable<readonly [name: string, value: string]> {
  readonly #raw: readonly (readonly [string, Uint8Array | string])[];

  /** @internal */
  constructor(raw: readonly (readonly [string, Uint8Array | string])[]) {
    this.#raw = raw;
  }

  /** The value of a header, all its values joined by `", "` when it is repeated; `undefined` when it is absent. */
  get(name: string): string | undefined {
    const all = this.getAll(name);
    return all.length < 2 ? all[0] : all.join(", ");
  }

  /** Every value of a header, in order; empty when it is absent. */
  getAll(name: string): string[] {
    const wanted = name.toLowerCase();
    const values: string[] = [];
    const raw = this.#raw;
    // By index, here and wherever every request passes, because the engine takes ten times as long for `for…of`.
    for (let i = 0; i < raw.length; i++) {
      const header = raw[i] as (typeof raw)[number];
      const given = header[0];
      if (given === wanted || (given.length === wanted.length && given.toLowerCase() === wanted)) {
        values.push(decodeValue(header[1]));
      }
    }
    return values;
  }

  /** Reports whether the header is present. */
  has(name: string): boolean {
    const wanted = name.toLowerCase();
    return this.#raw.some(([given]) => given.toLowerCase() === wanted);
  }

  /** Every header with its lower-case name, repeated ones as often as they came. */
  *[Symbol.iterator](): Iterator<readonly [name: string, value: string]> {
    for (const [name, value] of this.#raw) yield [name.toLowerCase(), decodeValue(value)];
  }
}

// A header's value is bytes; as text, one character stands for one byte (a ByteString in the Fetch and Web IDL
// standards). So every value survives unchanged, whatever its encoding.

/** Decodes a value as the host passes it. */
export function decodeValue(value: Uint8Array | string): string {
  if (typeof value === "string") return value;
  // In one call, up to the limit of a call's arguments.
  if (value.length <= MAX_ARGUMENTS) return String.fromCharCode.apply(undefined, value as unknown as number[]);
  let text = "";
  for (let i = 0; i < value.length; i++) text += String.fromCharCode(value[i] as number);
  return text;
}

const MAX_ARGUMENTS = 4096;

/** Encodes a value that {@link checkHeader} accepted. */
export function encodeValue(value: string): Uint8Array {
  const utf8 = encodeUtf8(value);
  // Latin-1 and UTF-8 are the same for ASCII.
  if (utf8.length === value.length) return utf8;
  const bytes = new Uint8Array(value.length);
  for (let i = 0; i < value.length; i++) bytes[i] = value.charCodeAt(i);
  return bytes;
}

// RFC 9110 section 5.1 (field-name is a token) and 5.5 (field values).
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FORBIDDEN = /[^\t -~\x80-\xff]/;
// RFC 9110 section 7.6.1, and the headers that `wasi:http` reserves for its host.
const KEPT =
  /^(?:connection|host|http2-settings|keep-alive|proxy-(?:authenticate|authorization|connection)|transfer-encoding|upgrade)$/;

/** Reports whether a text is a token, as the names of headers and methods are (RFC 9110, section 5.6.2). */
export function isToken(text: unknown): text is string {
  return typeof text === "string" && TOKEN.test(text);
}

/**
 * Checks a handler's header, and returns it with its name in lower case.
 *
 * @throws TypeError naming the header when the name is not a token or belongs to the connection, or the value holds a
 *   control character or one above U+00FF.
 */
export function checkHeader(name: string, value: string): readonly [name: string, value: string] {
  const header = headerPair(name, value);
  if (KEPT.test(header[0])) throw new TypeError(`header "${name}": it is the connection's, the server sets it`);
  return header;
}

/** Checks a request's header, which may belong to the connection. */
export function headerPair(name: string, value: string): readonly [name: string, value: string] {
  if (!isToken(name)) throw new TypeError(`${JSON.stringify(name)} is not a header name`);
  return [name.toLowerCase(), checkValue(name, value)];
}

/** Checks the value alone. */
export function checkValue(name: string, value: string): string {
  if (value === undefined || value === null) throw new TypeError(`header "${name}": has no value`);
  const text = String(value);
  if (!FORBIDDEN.test(text)) return text;
  throw new TypeError(
    `header "${name}": the value must have no control character, such as a line break, and none above U+00FF`,
  );
}
