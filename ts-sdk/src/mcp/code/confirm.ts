/**
 * Confirmations of calls. A token names the calls that a program may make, and is signed together with its caller and its source, so
 * that another caller, program or call has no use of it. Nothing is stored.
 */
import { decodeBase64Url, encodeBase64Url } from "../../encoding/base64.ts";
import { decodeUtf8, decodeUtf8Leniently, encodeUtf8 } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";
import { secret } from "../../secret.ts";
import { CONFIRM_MS } from "../limits.ts";
import type { Isolate } from "./types.ts";

/** The secret that signs tokens. */
const KEY = "MCP_CONFIRM_KEY";
/** The fewest bytes of the secret. */
const MIN_KEY = 16;

/** The most characters of a token, which has some 33 for each call. */
const MAX_TOKEN = 64 << 10;

/** Headers that say who the caller is. */
const IDENTIFYING = /^(?:authorization|proxy-authorization|cookie|x-forwarded-client-cert)$/;

/** A program and its caller. */
export interface Confirmed {
  readonly headers: readonly RawHeader[];
  /** Headers of API keys, in lower case. */
  readonly keyHeaders: readonly string[];
  readonly source: string;
  readonly input: unknown;
}

/** Signs and checks tokens of one request. */
export class Confirmations {
  readonly #key: Uint8Array;
  readonly #isolate: Isolate;
  readonly #subject: string;

  /** @throws Error when the secret is missing or short */
  constructor(isolate: Isolate, { headers, keyHeaders, source, input }: Confirmed) {
    const key = encodeUtf8(secret(KEY));
    if (key.length < MIN_KEY) throw new Error(`the secret ${KEY} must have at least ${MIN_KEY} bytes`);
    this.#key = key;
    this.#isolate = isolate;
    const caller = headers
      .map(([name, value]) => [name.toLowerCase(), decodeUtf8Leniently(value)] as const)
      .filter(([name]) => IDENTIFYING.test(name) || keyHeaders.includes(name));
    this.#subject = JSON.stringify([caller, source, input ?? null]);
  }

  /** The name of a call in tokens: a digest of its route, its path, its declared headers, and its body. */
  nameOf(call: readonly [route: string, path: string, headers: readonly (readonly string[])[], body: string]): string {
    return this.#mac("call", JSON.stringify(call)).slice(0, 22);
  }

  /** A token for these calls, in any order. */
  sign(calls: readonly string[], now = Date.now()): string {
    const content = JSON.stringify([now + CONFIRM_MS, ...calls]);
    return `${encodeBase64Url(encodeUtf8(content))}.${this.#mac("token", content)}`;
  }

  /** The calls of a token; undefined when it is not valid, or no more. */
  check(token: unknown, now = Date.now()): string[] | undefined {
    if (typeof token !== "string" || token.length > MAX_TOKEN) return undefined;
    const [encoded = "", mac = "", ...others] = token.split(".");
    const bytes = decodeBase64Url(encoded);
    const content = bytes && decodeUtf8(bytes);
    if (content === undefined || others.length > 0 || !isEqual(mac, this.#mac("token", content))) return undefined;
    const [expires, ...calls] = JSON.parse(content) as [number, ...string[]];
    return expires > now ? calls : undefined;
  }

  #mac(purpose: string, text: string): string {
    const data = encodeUtf8(JSON.stringify([purpose, this.#subject, text]));
    return encodeBase64Url(this.#isolate.hmac(this.#key, data));
  }
}

/** Compares texts in a time that does not depend on where they differ. */
function isEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
