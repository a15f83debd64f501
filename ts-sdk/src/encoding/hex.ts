/** Encodes bytes as lower-case hexadecimal (RFC 4648, section 8). */
export function encodeHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += ((bytes[i] as number) + 0x100).toString(16).slice(1);
  return text;
}
