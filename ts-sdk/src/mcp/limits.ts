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
