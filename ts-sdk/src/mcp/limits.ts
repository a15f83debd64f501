/** The limits of `POST /mcp`; the route's own limits hold besides. */

/** The longest request, in bytes. */
export const MAX_REQUEST = 4 << 20;
/** The deepest nesting of arrays and objects in a request. */
export const MAX_DEPTH = 64;
/** The most messages in a batch. */
export const MAX_BATCH = 20;
/** The tools on one page of `tools/list`. */
export const PAGE = 100;
/** The longest streamed answer that is collected, in bytes. */
export const MAX_COLLECTED = 1 << 20;
/** The longest message of a progress notification, in characters. */
export const MAX_PROGRESS = 1000;

/** The longest program of `execute`, in UTF-16 units. */
export const MAX_SOURCE = 64 << 10;
/** The limits of a program, which `limits` of the option changes. */
export const PROGRAM_LIMITS = {
  /** Processor time in milliseconds. */
  cpuMs: 1_000,
  /** Memory in bytes, some 0.8 MB of its runtime included. */
  memoryBytes: 32 << 20,
  /** Calls of routes. */
  calls: 50,
  /** Bytes of the value, as JSON. */
  outputBytes: 256 << 10,
  /** Bytes of the lines of the log; each counts 16 more. */
  logBytes: 16 << 10,
} as const;
/** The time for which a confirmation holds, in milliseconds. */
export const CONFIRM_MS = 600_000;
/** The signatures on one page of `search`. */
export const SEARCH_PAGE = 10;
/** The longest query of `search`, in UTF-16 units, and its most words. */
export const MAX_QUERY = 256;
export const MAX_WORDS = 16;
