/** Distinguishes secrets from keys of other kinds: a public key is known to everybody, so it must never be a secret (RFC 8725, section 3.1). */
import { decodeBase64, decodeBase64Url } from "../encoding/base64.ts";
import { encodeHex } from "../encoding/hex.ts";
import { decodeUtf8 } from "../platform.ts";

/** Object identifiers of key types in DER (RFC 3279, RFC 5480, RFC 8410): RSA, RSA-PSS and the like, EC, X25519 to Ed448. */
const OIDS = /2a864886f70d0101|2a8648ce3d0201|3005?0?6?032b65(?:6e|6f|70|71)/;
const ARMOR = /-----\s*BEGIN|---- BEGIN SSH2|^\s*(?:ssh-|ecdsa-sha2-|sk-ssh-)/;

/**
 * Names the kind of a text or bytes that are a key and no secret, such as a public key in PEM, after whatever text; `undefined`
 * for a secret.
 */
export function keyKindOf(given: string | Uint8Array): string | undefined {
  // Without the zeros of UTF-16.
  const text = (typeof given === "string" ? given : latin1(given)).replaceAll("\0", "");
  if (ARMOR.test(text)) return "a key in PEM";
  if (/^\s*[{[]/.test(text) && /"(?:kty|keys)"/.test(text)) return "a JSON Web Key as a text";
  if (typeof given !== "string" && isDer(given)) return "a key in DER";
  const compact = text.replace(/\s/g, "");
  const decoded = [decodeBase64(compact), decodeBase64Url(compact.replace(/=+$/, "")), fromHex(compact)];
  return decoded.some((bytes) => bytes !== undefined && isDer(bytes)) ? "a key in DER, encoded" : undefined;
}

/** The text whose characters are the bytes. */
function latin1(bytes: Uint8Array): string {
  return decodeUtf8(bytes) ?? Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-f]+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/** Reports whether bytes are a key or a certificate in DER: a sequence of all of them, or anything with a key type's identifier. */
function isDer(bytes: Uint8Array): boolean {
  const outer = elementAt(bytes, 0);
  if (outer?.tag === SEQUENCE && outer.end === bytes.length) {
    const inner = elementAt(bytes, outer.start);
    if (inner !== undefined && (inner.tag === SEQUENCE || inner.tag === INTEGER) && inner.end <= outer.end) return true;
  }
  return OIDS.test(encodeHex(bytes));
}

/** The element of ASN.1 at a place: its tag, and where its content begins and ends. */
function elementAt(bytes: Uint8Array, at: number): { tag: number; start: number; end: number } | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return undefined;
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (count > 4) return undefined;
  let length = count === 0 ? first : 0;
  for (let i = 0; i < count; i++) length = length * 256 + (bytes[at + 2 + i] ?? 0);
  const start = at + 2 + count;
  return { tag, start, end: start + length };
}
