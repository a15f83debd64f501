/** Parses JSON bodies. */
import { decodeUtf8 } from "../platform.ts";
import type { InputError } from "./problem.ts";

/** A parsed body, or the failure. */
export interface ParsedJson {
  readonly value?: unknown;
  readonly failure?: InputError;
}

const MISSING: ParsedJson = { failure: { in: "body", pointer: "#", code: "required", detail: "is required" } };
const MALFORMED: ParsedJson = { failure: { in: "body", pointer: "#", code: "json", detail: "must be JSON in UTF-8" } };

/** Parses a body as JSON (RFC 8259). The engine's own message is dropped, because it quotes the input. */
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

/**
 * Writes a value as JSON.
 *
 * @throws TypeError for a value without JSON: a function, a cycle, a bigint.
 */
export function writeJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (thrown) {
    if (thrown instanceof TypeError) throw thrown;
    // The engine's stack overflows at some 350 levels in JSON.stringify, and at 50,000 in JavaScript.
    text = writeDeep(value, "");
  }
  if (text === undefined) throw new TypeError(`a ${typeof value} can't be sent as JSON`);
  return text;
}

/** Does what JSON.stringify does, level by level. */
function writeDeep(given: unknown, key: string): string | undefined {
  const toJson = (given as { toJSON?: unknown } | null | undefined)?.toJSON;
  const value: unknown = typeof toJson === "function" ? toJson.call(given, key) : given;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let text = "";
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) text += `${i > 0 ? "," : ""}${writeDeep(value[i], String(i)) ?? "null"}`;
    return `[${text}]`;
  }
  for (const [name, member] of Object.entries(value)) {
    const written = writeDeep(member, name);
    if (written !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${written}`;
  }
  return `{${text}}`;
}

const JSON_MEDIA_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json[\t ]*(?:;|$)/i;

/**
 * Reports whether a `content-type` is JSON or absent: `application/json` or `application/…+json` (RFC 6839 section
 * 3.1).
 */
export function saysJson(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === "" || contentType === "application/json") return true;
  return JSON_MEDIA_TYPE.test(contentType);
}
