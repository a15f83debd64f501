/** Converts a route's answer to the result of a tool call. */
import { BODY, streamKey } from "../abi.ts";
import { encodeBase64 } from "../encoding/base64.ts";
import { joinBytes } from "../http/bytes.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import { type ProblemDetails, problem } from "../http/problem.ts";
import { PHRASES_BELOW_400, reasonPhrase } from "../http/status.ts";
import { decodeUtf8, decodeUtf8Leniently, type OpenStream, platform } from "../platform.ts";
import type { RawResponse } from "../raw.ts";
import { MAX_COLLECTED } from "./limits.ts";
import { isObject } from "./messages.ts";
import type { ToolEntry } from "./types.ts";

/** A route's answer with its whole body. */
export interface Answered {
  readonly status: number;
  /** The media type, without parameters. */
  readonly type: string;
  readonly headers: RawResponse["headers"];
  readonly body: Uint8Array | undefined;
}

/** The value of a header of a raw response. */
export function headerOf({ headers }: Pick<RawResponse, "headers">, name: string): string | undefined {
  const found = headers.find((header) => header[0] === name);
  return found && decodeUtf8Leniently(found[1]);
}

/** Takes the stream of an answer, if it is streamed; the next streamed answer takes its place. */
export function takeStream({ headers }: RawResponse): OpenStream | undefined {
  if (!headers.some(([name]) => name === BODY)) return undefined;
  const stream = platform[streamKey];
  platform[streamKey] = undefined;
  return stream;
}

/**
 * Reads a stream piece by piece.
 *
 * @throws ProblemDetails when it breaks off
 */
export async function* piecesOf(stream: OpenStream): AsyncGenerator<Uint8Array, void> {
  let isOver = false;
  // The stream clears the global at its end, which belongs to the stream that carries this one.
  const keepingOuter = async <T>(answer: () => Promise<T>) => {
    const outer = platform[streamKey];
    const answered = await answer();
    platform[streamKey] = outer;
    return answered;
  };
  try {
    for (;;) {
      const { status, body } = await keepingOuter(() => stream.next());
      if (status === 200 && body) yield body;
      else if (status !== 202) {
        isOver = true;
        if (status !== 204) throw problem(500, "The answer broke off.");
        return;
      }
    }
  } finally {
    if (!isOver) await keepingOuter(() => stream.cancel());
  }
}

/** Reads a whole answer. @throws ProblemDetails when it breaks off, or is too large */
export async function readAnswer(raw: RawResponse, pieces?: AsyncIterable<Uint8Array>): Promise<Answered> {
  const { status, headers } = raw;
  const type = mediaTypeOf(headerOf(raw, "content-type") ?? "");
  if (pieces === undefined) return { status, type, headers, body: raw.body };
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > MAX_COLLECTED) throw problem(502, `The streamed answer has more than ${MAX_COLLECTED} bytes.`);
    all.push(piece);
  }
  return { status, type, headers, body: joinBytes(all, size) };
}

/** The result for problem details. */
export function problemResult(details: ProblemDetails, tool: ToolEntry, isModern: boolean): string {
  return failed(JSON.stringify(details), true, tool, isModern);
}

function failed(text: string, isJson: boolean, { output }: ToolEntry, isModern: boolean): string {
  // Clients of earlier revisions compare the structured content of an error with the schema of a success.
  const structured = isJson && (isModern || output === undefined) ? `,"structuredContent":${text}` : "";
  return `"content":[${textContent(text)}],"isError":true${structured}`;
}

/**
 * The members of the result of a tool call, as JSON.
 *
 * @param isModern whether structured content may be any value; it is an object in earlier revisions
 */
export function resultOf(answer: Answered, tool: ToolEntry, uri: string, isModern: boolean): string {
  const { status, type, body } = answer;
  const text = body && isText(type) ? decodeUtf8(body) : undefined;
  const json = text !== undefined && isJson(type) ? parsed(text) : undefined;
  if (status >= 400) {
    const shown = text === undefined || text === "" ? `${status} ${reasonPhrase(status)}` : text;
    return failed(shown, json !== undefined && isObject(json.value), tool, isModern);
  }
  if (json !== undefined && text !== undefined) {
    const structured = isModern || isObject(json.value) ? `,"structuredContent":${text}` : "";
    return `"content":[${textContent(text)}]${structured}`;
  }
  if (tool.output !== undefined) {
    // The protocol wants the declared body of a success.
    const details = problem(502, `The route answered ${status} without the declared JSON body.`);
    return problemResult(details, tool, isModern);
  }
  if (body === undefined || body.length === 0) {
    const location = headerOf(answer, "location");
    const line = `${status} ${PHRASES_BELOW_400[status] ?? "Success"}${location === undefined ? "" : `, location: ${location}`}`;
    return `"content":[${textContent(line)}]`;
  }
  if (text !== undefined) return `"content":[${textContent(type === "text/event-stream" ? dataOf(text) : text)}]`;
  const data = JSON.stringify(encodeBase64(body));
  const mimeType = JSON.stringify(type || "application/octet-stream");
  const [kind] = type.split("/");
  if (kind === "image" || kind === "audio") {
    return `"content":[{"type":"${kind}","data":${data},"mimeType":${mimeType}}]`;
  }
  return `"content":[{"type":"resource","resource":{"uri":${JSON.stringify(uri)},"mimeType":${mimeType},"blob":${data}}}]`;
}

function textContent(text: string): string {
  return `{"type":"text","text":${JSON.stringify(text)}}`;
}

/** The data of server-sent events, a line each. */
export function dataOf(events: string): string {
  const lines = events.split(/\r\n|\r|\n/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
  return lines.join("\n");
}

/** Reports whether a media type is JSON. */
export function isJson(type: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json$/.test(type);
}

/** Reports whether a media type is text. */
export function isText(type: string): boolean {
  return (
    isJson(type) || /^text\/|[/+]xml$|^application\/(?:javascript|x-www-form-urlencoded|x-ndjson|jsonl?)$/.test(type)
  );
}

/** A value of JSON; undefined for another text, which a handler may send under this type. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
