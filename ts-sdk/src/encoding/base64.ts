import { platform } from "../platform.ts";

/** Decodes base64 (RFC 4648, section 4), padded or not; `undefined` when the text is invalid. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return bytesOf(platform.atob(text));
  } catch {
    return undefined;
  }
}

/** Whole groups, and an end whose unused bits are zeros (RFC 4648, section 3.5). */
const CANONICAL = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

/**
 * Decodes base64url (RFC 4648, section 5) without padding; `undefined` when the text is invalid. Bytes have one text, so
 * that no signature can be written in two ways.
 */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!CANONICAL.test(text)) return undefined;
  return decodeBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** Encodes bytes as base64 (RFC 4648, section 4), padded. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i] as number);
  return platform.btoa(text);
}

/** Encodes bytes as base64url (RFC 4648, section 5), without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
