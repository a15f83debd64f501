/** `TextDecoder` (Encoding Standard, section 6.2). */
import { utf8Decode } from "tenon:engine";
import { isUtf8 } from "./labels.ts";
import { incompleteAt } from "./utf8-sequences.ts";

/** A decoder of another encoding than UTF-8. */
export interface OtherDecoder {
  readonly encoding: string;
  /** @throws TypeError if the decoder is fatal and the bytes are not valid */
  decode(bytes: Uint8Array, stream: boolean): string;
}

type OpenOther = (label: string, fatal: boolean, ignoreBOM: boolean) => OtherDecoder | undefined;

interface Options {
  readonly fatal?: boolean;
  readonly ignoreBOM?: boolean;
}

/** A text of which a part was decoded with `stream`. */
interface Unfinished {
  /** The bytes of a character that is not complete. */
  readonly rest: Uint8Array;
  /** Characters were read, so that no byte order mark follows. */
  readonly begun: boolean;
}

const none = new Uint8Array(0);

let openOther: OpenOther = () => undefined;

/**
 * Adds encodings to UTF-8.
 *
 * @param open returns a decoder, or undefined if no other encoding has the label
 */
export function useOtherDecoders(open: OpenOther): void {
  openOther = open;
}

export class TextDecoder {
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;
  readonly #other: OtherDecoder | undefined;
  #unfinished: Unfinished | undefined;

  // Parameters with defaults do not count for `length`.
  constructor(label: string = "utf-8", options: Options | undefined = undefined) {
    const name = `${label}`;
    const given = dictionary<Options>(options);
    const fatal = Boolean(given?.fatal);
    const ignoreBOM = Boolean(given?.ignoreBOM);
    if (!isUtf8(name)) {
      this.#other = openOther(name, fatal, ignoreBOM);
      if (this.#other === undefined) throw new RangeError(`TextDecoder: there is no encoding "${name}"`);
    }
    this.#fatal = fatal;
    this.#ignoreBOM = ignoreBOM;
  }

  get encoding(): string {
    return this.#other?.encoding ?? "utf-8";
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(input: unknown = undefined, options: { readonly stream?: boolean } | undefined = undefined): string {
    const other = this.#other;
    const bytes = input instanceof Uint8Array ? input : bytesOf(input);
    const stream = options !== undefined && Boolean(dictionary<{ readonly stream?: boolean }>(options)?.stream);
    if (other !== undefined) return other.decode(bytes, stream);
    if (!stream && this.#unfinished === undefined) return utf8Decode(bytes, this.#fatal, this.#ignoreBOM);
    const { rest, begun } = this.#unfinished ?? { rest: none, begun: false };
    const all = rest.length === 0 ? bytes : joined(rest, bytes);
    const end = stream ? incompleteAt(all) : all.length;
    this.#unfinished = stream ? { rest: all.slice(end), begun: begun || end > 0 } : undefined;
    return utf8Decode(all.subarray(0, end), this.#fatal, begun || this.#ignoreBOM);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** A view of a `BufferSource`, without a copy. @throws TypeError for anything else */
function bytesOf(input: unknown): Uint8Array {
  if (input === undefined) return none;
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer || (typeof SharedArrayBuffer === "function" && input instanceof SharedArrayBuffer)) {
    return new Uint8Array(input);
  }
  throw new TypeError("TextDecoder.decode: the input must be an ArrayBuffer or a view of one");
}

/** Converts to a dictionary (Web IDL, section 3.2.17). */
function dictionary<T>(value: unknown): T | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" && typeof value !== "function")
    throw new TypeError("TextDecoder: the options must be an object");
  return value as T;
}
