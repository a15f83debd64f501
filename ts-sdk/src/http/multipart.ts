/** Parses forms (RFC 7578). */
import { decodeUtf8Leniently, encodeUtf8 } from "../platform.ts";

/** One part of a form (RFC 7578, section 4). */
export interface Part {
  /** The name of the form's field. */
  readonly name: string;
  /** The name and type that the client sends with a file; `undefined` for another field. The type may be empty. */
  readonly file: { readonly name: string; readonly type: string } | undefined;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** The limit of parts of a form, because each costs several objects. */
const MAX_PARTS = 1_000;
/** The longest headers of a part, in bytes. */
const MAX_HEADERS = 16 * 1024;

const CR = 13;
const LF = 10;
const DASH = 45;

/** The parameter `boundary` of a content type (RFC 2046, section 5.1.1); `undefined` when it is absent or invalid. */
export function boundaryOf(contentType: string): string | undefined {
  const found = /;[\t ]*boundary=(?:"([^"]+)"|([^\s";]+))/i.exec(contentType);
  const boundary = found?.[1] ?? found?.[2];
  return boundary !== undefined && /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary) ? boundary : undefined;
}

/**
 * Parses `multipart/form-data` (RFC 7578), from bytes of any realm.
 *
 * @returns the parts in their order, or a message with the error
 */
export function readMultipart(body: Uint8Array, boundary: string | undefined): readonly Part[] | string {
  if (boundary === undefined) return "must have a boundary in its content type (RFC 2046, section 5.1.1)";
  const delimiter = encodeUtf8(`--${boundary}`);
  const parts: Part[] = [];
  // The preamble before the first delimiter is ignored.
  let at = startsWith(body, delimiter, 0) ? delimiter.length : after(body, delimiter, 0);
  for (;;) {
    if (at < 0) return "must end with its closing boundary";
    if (body[at] === DASH && body[at + 1] === DASH) return parts;
    while (body[at] === 32 || body[at] === 9) at++;
    if (body[at] !== CR || body[at + 1] !== LF) return "must have a line break behind each boundary";
    const end = endOfHeaders(body, at);
    if (end < 0) return "must have parts with a few headers and an empty line behind them";
    const next = after(body, delimiter, end - 2);
    if (next < 0) return "must end with its closing boundary";
    const described = describe(decodeUtf8Leniently(body.subarray(at + 2, end)));
    if (described === undefined) return "must have parts whose Content-Disposition names a field";
    if (parts.length >= MAX_PARTS) return `must have at most ${MAX_PARTS} parts`;
    const content = new Uint8Array(next - delimiter.length - 2 - end);
    content.set(body.subarray(end, end + content.length));
    parts.push({ ...described, content });
    at = next;
  }
}

/** Finds the end of a part's headers, which begin with the line break at `from`: the position after the empty line. */
function endOfHeaders(body: Uint8Array, from: number): number {
  const limit = Math.min(body.length, from + MAX_HEADERS);
  for (let at = from; at >= 0 && at < limit; at = body.indexOf(CR, at + 1)) {
    if (body[at + 1] === LF && body[at + 2] === CR && body[at + 3] === LF) return at + 4;
  }
  return -1;
}

/** The position after the next delimiter, which follows a line break. */
function after(body: Uint8Array, delimiter: Uint8Array, from: number): number {
  // From one carriage return to the next, because comparing each byte would be far slower in the engine's interpreter.
  for (let at = body.indexOf(CR, from); at >= 0; at = body.indexOf(CR, at + 1)) {
    if (body[at + 1] === LF && startsWith(body, delimiter, at + 2)) return at + 2 + delimiter.length;
  }
  return -1;
}

function startsWith(body: Uint8Array, text: Uint8Array, at: number): boolean {
  for (let i = 0; i < text.length; i++) if (body[at + i] !== text[i]) return false;
  return true;
}

/** Reads the field and the file from a part's headers. */
function describe(headers: string): Omit<Part, "content"> | undefined {
  let disposition: string | undefined;
  let type = "";
  for (const line of headers.split("\r\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 1).trim();
    const header = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (header === "content-disposition") disposition = value;
    if (header === "content-type") type = value;
  }
  if (disposition === undefined || !/^form-data[\t ]*(?:;|$)/i.test(disposition)) return undefined;
  const name = parameter(disposition, "name");
  const filename = parameter(disposition, "filename");
  if (name === undefined) return undefined;
  // Some clients send a path; only its last part is a name.
  const file = filename === undefined ? undefined : { name: filename.replace(/^.*[/\\]/s, ""), type };
  return { name, file };
}

/** A parameter, quoted as browsers do it (HTML standard, "multipart/form-data encoding algorithm"), or a token. */
function parameter(disposition: string, wanted: string): string | undefined {
  const pattern = /;[\t ]*([\w!#$&+.^`|~*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))/g;
  for (const [, name, quoted, token] of disposition.matchAll(pattern)) {
    if (name?.toLowerCase() !== wanted) continue;
    if (quoted === undefined) return token;
    return quoted.replace(/\\"|%22|%0D|%0A/gi, (found) => ESCAPES[found.toUpperCase()] as string);
  }
  return undefined;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\"': '"', "%22": '"', "%0D": "\r", "%0A": "\n" };
