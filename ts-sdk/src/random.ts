import { platform } from "./platform.ts";

/** Random values, from the host's source of randomness. Ask for them in a handler: at top level they would be frozen into the component, and the build fails. */
export const random = {
  /** A random UUID, version 4 (RFC 9562 section 5.4), in lower case. */
  uuid(): string {
    return platform.crypto.randomUUID();
  },
} as const;
