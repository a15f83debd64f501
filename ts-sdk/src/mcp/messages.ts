/** JSON-RPC 2.0 messages of the protocol, and the checks of a request's framing. */
import { decodeUtf8 } from "../platform.ts";
import { MAX_DEPTH, MAX_REQUEST } from "./limits.ts";

/** The revision in which every request stands alone. */
export const MODERN = "2026-07-28";
/** The revisions with `initialize`, the newest first. */
export const LEGACY: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** The only revision with batches, and that of a request without a version. */
export const BATCHING = "2025-03-26";

const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const HEADER_MISMATCH = -32020;
export const UNSUPPORTED_VERSION = -32022;

/** The members of an object of JSON. */
export type Members = Readonly<Record<string, unknown>>;

export type MessageId = string | number;

/** A request or a notification. */
export interface RpcMessage {
  /** Undefined for a notification. */
  readonly id?: MessageId;
  readonly method: string;
  readonly params: Members | undefined;
}

/** An error of the protocol. `status` is that of the HTTP response. */
export class ProtocolError {
  readonly code: number;
  readonly message: string;
  readonly status: number;
  readonly data: unknown;

  constructor(code: number, message: string, status = 200, data?: unknown) {
    this.code = code;
    this.message = message;
    this.status = status;
    this.data = data;
  }
}

/** The text of an error response; without an id, it is null as JSON-RPC has it. */
export function errorText({ code, message, data }: ProtocolError, id?: MessageId): string {
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code, message, ...(data ? { data } : {}) } });
}

/** The text of a result response. @param members the members of the result, as JSON without its braces */
export function resultText(id: MessageId, members: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members}}}`;
}

/** The text of a notification. */
export function notificationText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

/** Parses a request's body. @throws ProtocolError */
export function parseBody(body: Uint8Array | undefined): unknown {
  if (body !== undefined && body.length > MAX_REQUEST) {
    throw new ProtocolError(INVALID_REQUEST, `The request must have at most ${MAX_REQUEST} bytes.`, 413);
  }
  const text = body && decodeUtf8(body);
  if (text === undefined) throw new ProtocolError(PARSE_ERROR, "The body must be JSON in UTF-8.", 400);
  let value: unknown;
  try {
    // The engine ends a parse that nests too deep for its stack.
    value = JSON.parse(text);
  } catch {
    throw new ProtocolError(PARSE_ERROR, "The body must be JSON in UTF-8.", 400);
  }
  if (isDeep(value)) throw new ProtocolError(INVALID_REQUEST, `JSON must have at most ${MAX_DEPTH} levels.`, 400);
  return value;
}

/** Reports whether a value has too many levels. It goes level by level, because a recursion has the stack for a limit. */
export function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    const inner: unknown[] = [];
    for (const each of level) {
      if (typeof each !== "object" || each === null) continue;
      for (const member of Object.values(each)) if (typeof member === "object" && member !== null) inner.push(member);
    }
    level = inner;
  }
  return false;
}

/** Reports whether a value is an object of JSON. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The id of a message, where it has a valid one. */
export function idOf(value: unknown): MessageId | undefined {
  const id = isObject(value) ? value["id"] : undefined;
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as MessageId) : undefined;
}

/**
 * Reads a message; undefined for a response, which no request of ours waits for.
 *
 * @throws ProtocolError
 */
export function readMessage(value: unknown): RpcMessage | undefined {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") {
    throw new ProtocolError(INVALID_REQUEST, 'A message must be an object with "jsonrpc": "2.0".', 400);
  }
  const { method, params } = value;
  if (method === undefined && ("result" in value || "error" in value)) return undefined;
  if (typeof method !== "string") throw new ProtocolError(INVALID_REQUEST, '"method" must be a text.', 400);
  const id = idOf(value);
  if ("id" in value && id === undefined) {
    throw new ProtocolError(INVALID_REQUEST, '"id" must be a text or a whole number.', 400);
  }
  if (params !== undefined && !isObject(params)) {
    throw new ProtocolError(INVALID_PARAMS, '"params" must be an object.', 400);
  }
  return { ...(id === undefined ? {} : { id }), method, params };
}
