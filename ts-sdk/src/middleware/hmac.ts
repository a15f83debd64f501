import { encodeUtf8, platform } from "../platform.ts";

/** The HMAC of bytes or a text (RFC 2104) with SHA-256, 384 or 512. */
export async function hmac(
  key: string | Uint8Array,
  data: string | Uint8Array,
  hash: "SHA-256" | "SHA-384" | "SHA-512" = "SHA-256",
): Promise<Uint8Array> {
  const { subtle } = platform.crypto;
  const imported = await subtle.importKey("raw", bytesOf(key), { name: "HMAC", hash }, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", imported, bytesOf(data)));
}

/** Bytes of this realm, because those of a component's request are of another one. */
function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? encodeUtf8(data) : data;
}
