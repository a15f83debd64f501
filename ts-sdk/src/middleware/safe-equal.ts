import { isBytes } from "../http/bytes.ts";
import { encodeUtf8 } from "../platform.ts";

/**
 * Compares two secrets in constant time, so that its duration reveals only their lengths.
 *
 * @param a a text, compared by its UTF-8 bytes, or bytes
 * @throws TypeError for arguments of other types.
 * @example
 * guard(safeEqual(req.headers.get("x-key") ?? "", secret("KEY")), 401, "wrong key");
 */
export function safeEqual(a: string | Uint8Array, b: string | Uint8Array): boolean {
  const [left, right] = [bytesOf(a), bytesOf(b)];
  let difference = left.length ^ right.length;
  for (let i = 0; i < left.length; i++) difference |= (left[i] as number) ^ (right[i % (right.length || 1)] ?? 0);
  return difference === 0;
}

function bytesOf(secret: string | Uint8Array): Uint8Array {
  if (typeof secret === "string") return encodeUtf8(secret);
  if (isBytes(secret)) return secret;
  throw new TypeError("safeEqual: expects texts or bytes");
}
