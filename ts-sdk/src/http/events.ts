import { encodeUtf8 } from "../platform.ts";
import { writeJson } from "./json.ts";
import { typeName } from "./type-name.ts";

/** An event that `sse` sends (HTML, section 9.2.6). */
export interface ServerSentEvent {
  /** The event's type; clients assume `message` by default. One line. */
  readonly event?: string | undefined;
  /** The data: a text is sent as it is, any other value as JSON. */
  readonly data: unknown;
  /** The value of `last-event-id` that a client sends when it reconnects after this event. One line, without U+0000. */
  readonly id?: string | number | undefined;
  /** The time after which a client reconnects, in milliseconds. */
  readonly retry?: number | undefined;
}

/**
 * Encodes an event. Its fields are in the order of Hono's, which clients' tests compare as text.
 *
 * @throws TypeError when `event` or `id` is not one line, or `data` has no JSON; RangeError when `retry` is not a whole
 *   number
 */
export function encodeEvent(value: unknown): Uint8Array {
  if (typeof value !== "object" || value === null)
    throw new TypeError(`sse: an event must be { event?, data, id?, retry? }, not ${typeName(value)}`);
  const { event, data, id, retry } = value as ServerSentEvent;
  if (data === undefined) throw new TypeError('sse: "data" is undefined');
  let text = field("event", event);
  for (const line of (typeof data === "string" ? data : writeJson(data)).split(/\r\n|\r|\n/)) text += `data: ${line}\n`;
  text += field("id", id);
  if (retry !== undefined) {
    if (!(Number.isSafeInteger(retry) && retry >= 0)) {
      throw new RangeError('sse: "retry" must be a whole number of milliseconds');
    }
    text += `retry: ${retry}\n`;
  }
  return encodeUtf8(`${text}\n`);
}

function field(name: string, value: string | number | undefined): string {
  if (value === undefined) return "";
  // A client ignores an id with U+0000.
  if (/[\r\n\0]/.test(String(value))) throw new TypeError(`sse: "${name}" must be one line, without U+0000`);
  return `${name}: ${value}\n`;
}
