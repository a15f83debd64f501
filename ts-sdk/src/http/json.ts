import { decodeUtf8 } from "../platform.ts";
import type { InputError } from "./problem.ts";

/** A parsed body, or why there is none. */
export interface ParsedJson {
  readonly value?: unknown;
  readonly failure?: InputError;
}

const MISSING: ParsedJson = { failure: { in: "body", pointer: "#", code: "required", detail: "is required" } };
const MALFORMED: ParsedJson = { failure: { in: "body", pointer: "#", code: "json", detail: "must be JSON in UTF-8" } };

/** Parses a body as JSON (RFC 8259). The engine's own message is dropped: it quotes what was sent. */
export function parseJson(body: Uint8Array | undefined): ParsedJson {
  if (body === undefined || body.length === 0) return MISSING;
  const text = decodeUtf8(body);
  if (text === undefined) return MALFORMED;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return MALFORMED;
  }
}

const JSON_MEDIA_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json[\t ]*(?:;|$)/i;

/** Whether a `content-type` says JSON, or nothing: `application/json` or `application/…+json` (RFC 6839 section 3.1). */
export function saysJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === "" || contentType === "application/json") return true;
  return JSON_MEDIA_TYPE.test(contentType);
}
