import { platform } from "./platform.ts";

/** Random values, from the host's source of randomness. Ask for them in a handler: at top level they would be frozen into the component. */
export const random = {
  /** A random UUID, version 4 (RFC 9562 section 5.4), in lower case. */
  uuid(): string {
    const bytes = platform.crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    let text = "";
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) text += "-";
      text += ((bytes[i] as number) + 0x100).toString(16).slice(1);
    }
    return text;
  },
} as const;
