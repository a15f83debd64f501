/** Makes the request of a tool call from its arguments and from the request that carries it. */
import { decodeBase64 } from "../encoding/base64.ts";
import { escapedName } from "../encoding/form-name.ts";
import { joinBytes } from "../http/bytes.ts";
import { encodeValue } from "../http/headers.ts";
import type { InputError } from "../http/problem.ts";
import { decodeUtf8Leniently, encodeUtf8 } from "../platform.ts";
import type { RawHeader, RawRequest } from "../raw.ts";
import type { Operation } from "../routing/operation.ts";
import type { Members } from "./messages.ts";
import type { ToolEntry } from "./types.ts";

/** An argument that can't be sent. It never has the given value. */
export interface ArgumentError extends Omit<InputError, "in" | "code"> {
  readonly in: "arguments";
  readonly code: "unknown" | "type" | "format";
}

/**
 * Headers of the caller's request that are about its own message and not about the caller: they are not passed on. A
 * declared header of such a name is no argument.
 */
const OF_MESSAGE =
  /^(?:content-.*|accept(?:-.*)?|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|range|if-.*|last-event-id|mcp-.*)$/;

/** Headers that only the caller sets. */
const OF_CALLER = /^(?:authorization|proxy-.*|cookie|host|origin|referer|forwarded|x-forwarded-.*|x-real-ip|sec-.*)$/;

/** Reports whether an argument may set a header: credentials and addresses are the caller's own. */
export function isArgumentHeader(name: string): boolean {
  return !OF_MESSAGE.test(name) && !OF_CALLER.test(name);
}

/** Makes the request, or lists the arguments that can't be sent. */
export function buildRequest(
  tool: ToolEntry,
  { method, paths }: Operation,
  given: Members,
  caller: RawRequest,
): RawRequest | readonly ArgumentError[] {
  const errors: ArgumentError[] = [];
  const refuse = (name: string, code: ArgumentError["code"], detail: string) =>
    errors.push({ in: "arguments", pointer: `#/${pointerStep(name)}`, code, detail });
  const known = new Map(tool.args.map(([argument, place, name]) => [argument, { place, name }]));
  let path = paths[0] as string;
  const query: string[] = [];
  const members: [name: string, value: unknown][] = [];
  const headers: RawHeader[] = caller.headers.filter(([name]) => !OF_MESSAGE.test(name.toLowerCase()));
  let whole: unknown;
  const filled = new Set<string>();
  for (const [argument, value] of Object.entries(given)) {
    const found = known.get(argument);
    if (found === undefined) {
      refuse(argument, "unknown", "is not an argument of this tool");
      continue;
    }
    const { place, name } = found;
    if (place === "body") whole = value;
    else if (place === "member") members.push([name, value]);
    else if (value === undefined || value === null) continue;
    else if (place === "query") {
      for (const item of [value].flat()) query.push(`${encode(name)}=${encode(textOf(item))}`);
    } else if (place === "header") {
      const text = [value].flat().map(textOf).join(", ");
      if (/[^\t -~\x80-\xff]/.test(text)) refuse(argument, "format", "must be one line of characters up to U+00FF");
      else if (headers.some(([own]) => own.toLowerCase() === name))
        refuse(argument, "unknown", "is set by the request");
      else headers.push([name, encodeValue(text)]);
    } else {
      const text = textOf(value);
      const segments = place === "rest" ? text.split("/") : [text];
      // Clients and proxies that resolve dot segments (RFC 3986, section 5.2.4) send none of them.
      if (text === "" || segments.some((segment) => segment === "." || segment === ".."))
        refuse(
          argument,
          "format",
          place === "rest" ? 'must not be empty, or have a segment "." or ".."' : 'must not be empty, "." or ".."',
        );
      filled.add(name);
      // A function, because a text for `replace` gives "$&" a meaning.
      path = path.replace(place === "rest" ? `{${name}*}` : `{${name}}`, () => segments.map(encode).join("/"));
    }
  }
  for (const [argument, place, name] of tool.args) {
    if ((place === "path" || place === "rest") && !filled.has(name)) refuse(argument, "type", "is required");
  }
  const body = errors.length === 0 ? bodyOf(tool, members, whole, refuse) : undefined;
  if (errors.length > 0) return errors.slice(0, 20);
  if (body) headers.push(["content-type", encodeUtf8(body.type)]);
  headers.push(["accept", encodeUtf8("application/json, */*;q=0.8")]);
  const search = query.length === 0 ? "" : `?${query.join("&")}`;
  const { host } = caller;
  return {
    method,
    pathWithQuery: path + search,
    headers,
    contentType: body?.type,
    ...(host === undefined ? {} : { host }),
    body: body?.bytes,
  };
}

interface Body {
  readonly type: string;
  readonly bytes: Uint8Array;
}

type Refuse = (name: string, code: ArgumentError["code"], detail: string) => unknown;

function bodyOf(
  { body, contentType = "application/octet-stream", args }: ToolEntry,
  members: readonly (readonly [string, unknown])[],
  whole: unknown,
  refuse: Refuse,
): Body | undefined {
  if (body === undefined) return undefined;
  if (body === "bytes") {
    const bytes = typeof whole === "string" ? decodeBase64(whole) : undefined;
    if (bytes === undefined) refuse("body", "format", "must be base64");
    return bytes && { type: contentType, bytes };
  }
  const isFlat = args.some(([, place]) => place === "member");
  if (!isFlat && whole === undefined) return undefined;
  const own = isFlat ? members : Object.entries(Object(whole));
  if (body === "form") {
    const pairs = own.flatMap(([name, value]) =>
      present(value).map((item) => `${encode(name)}=${encode(textOf(item))}`),
    );
    return { type: "application/x-www-form-urlencoded", bytes: encodeUtf8(pairs.join("&")) };
  }
  if (body === "multipart") return multipart(own, refuse);
  // `fromEntries` defines members, so that one called "__proto__" is a member like any other.
  const value = isFlat ? Object.fromEntries(members) : whole;
  return { type: "application/json", bytes: encodeUtf8(JSON.stringify(value)) };
}

/** Writes `multipart/form-data` (RFC 7578). A file is `{ name?, type?, data }` with its bytes in base64. */
function multipart(entries: readonly (readonly [string, unknown])[], refuse: Refuse): Body {
  const parts: { head: string; bytes: Uint8Array }[] = [];
  for (const [field, value] of entries) {
    for (const item of present(value)) {
      const disposition = `content-disposition: form-data; name="${escapedName(field)}"`;
      if (typeof item !== "object") {
        parts.push({ head: disposition, bytes: encodeUtf8(textOf(item)) });
        continue;
      }
      const { name = "file", type = "application/octet-stream", data } = item as Record<string, unknown>;
      const bytes = typeof data === "string" ? decodeBase64(data) : undefined;
      const isType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(textOf(type));
      if (bytes === undefined || !isType)
        refuse(field, "format", 'must have "data" in base64, and a media type as "type"');
      else {
        const head = `${disposition}; filename="${escapedName(textOf(name))}"\r\ncontent-type: ${type}`;
        parts.push({ head, bytes });
      }
    }
  }
  let boundary = "tenon-boundary";
  const texts = parts.map(({ head, bytes }) => head + decodeUtf8Leniently(bytes));
  while (texts.some((text) => text.includes(boundary))) boundary += "-";
  const pieces = parts.flatMap(({ head, bytes }) => [
    encodeUtf8(`--${boundary}\r\n${head}\r\n\r\n`),
    bytes,
    encodeUtf8("\r\n"),
  ]);
  pieces.push(encodeUtf8(`--${boundary}--\r\n`));
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: joinBytes(
      pieces,
      pieces.reduce((sum, { length }) => sum + length, 0),
    ),
  };
}

function present(value: unknown): unknown[] {
  return [value].flat().filter((item) => item !== undefined && item !== null);
}

/** The text of an argument in a path, a query, a header or a form. A wrong type stays wrong, and the route refuses it. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Percent-encodes a text; half of a surrogate pair becomes U+FFFD. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"));
}

/** One step of a JSON pointer (RFC 6901), cut where it is long. */
function pointerStep(name: string): string {
  return encode(name.slice(0, 64).replaceAll("~", "~0").replaceAll("/", "~1"));
}
