import { requireRequest } from "./platform.ts";

/** The time, from the host's clock. Ask for it in a handler: at top level it would be frozen into the component, and the build fails. */
export const time = {
  /** The current time in UTC with milliseconds, `2026-01-31T12:00:00.000Z` (ISO 8601, RFC 3339). */
  nowIso(): string {
    requireRequest("time.nowIso");
    return new Date().toISOString();
  },
} as const;
