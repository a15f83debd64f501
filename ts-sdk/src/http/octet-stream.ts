/** `octetStream`: bodies of any size, as the handler reads them. */
import { problem } from "../http/problem.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { HttpError } from "./interrupt.ts";
import { isMediaType, isTaken } from "./media-type.ts";
import { contentType, type Request, uploadOf } from "./request.ts";
import { problemResponse } from "./response.ts";
import { takeUploads } from "./upload.ts";

const OCTETS = "application/octet-stream";

/** The body that a client sends: bytes, a `Blob` or a `ReadableStream` of bytes. */
export type OctetInput =
  | Uint8Array
  | { readonly size: number; readonly type: string; stream(): object }
  | { readonly locked: boolean; getReader(): object };

/** A body of bytes that the handler reads while it arrives, from `octetStream(…)`. */
export interface OctetStreamSchema extends StandardSchema<OctetInput, AsyncIterable<Uint8Array<ArrayBuffer>>> {
  /** The accepted media types, as the OpenAPI document lists them. */
  readonly octets: readonly string[];
  /** @internal */
  readonly read: (request: Request) => AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Options of `octetStream`. */
export interface OctetStreamOptions {
  /** The limit of the body's bytes; 413 beyond. The host's `max_upload_bytes` applies as well. */
  readonly max?: number;
  /** The accepted media types, such as `image/png` or `image/*`; 415 for any other. All when left out. */
  readonly types?: readonly string[];
}

/**
 * A body of bytes that the handler reads piece by piece while it arrives, so that it may be larger than memory:
 * `put("/files/{id}", { body: octetStream({ max: 1e9 }) }, async ({ body }) => { for await (const piece of body) … })`.
 * It can be read once. The host waits for the handler: it sends a piece only when the handler reads one.
 *
 * @throws TypeError at definition: `max` is not a whole number, or `types` not a list of media types.
 * @example
 * put("/files/{id}", { body: octetStream({ max: 1e9 }), status: 204 }, async ({ body }) => {
 *   for await (const piece of body) await save(piece);
 *   return noContent();
 * })
 */
export function octetStream(options: OctetStreamOptions = {}): OctetStreamSchema {
  refuseUnknown("octetStream", options, ["max", "types"]);
  const { max = Number.POSITIVE_INFINITY, types = [] } = options;
  if (options.max !== undefined && !(Number.isInteger(max) && max >= 0)) {
    throw new TypeError(`octetStream: "max" must be a number of bytes, not ${max}`);
  }
  for (const type of types) {
    if (!isMediaType(type)) {
      throw new TypeError(`octetStream: "types" has ${JSON.stringify(type)}, which is not a media type`);
    }
  }
  takeUploads();

  function read(request: Request): AsyncIterable<Uint8Array<ArrayBuffer>> {
    if (!isTaken(contentType(request) ?? OCTETS, types)) {
      throw new HttpError(problemResponse(problem(415, `The body must be ${types.join(" or ")}.`)));
    }
    return pieces(request, max);
  }

  const validate = () => ({ issues: [{ message: "a stream of bytes has no value to check" }] });
  return Object.freeze({
    octets: types.length === 0 ? [OCTETS] : types,
    read,
    "~standard": Object.freeze({ version: 1 as const, vendor: "tenon", validate }),
  });
}

/** The pieces of a body, whether it is streamed or complete. */
async function* pieces(request: Request, max: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const upload = uploadOf(request);
  let left = max;
  const check = (piece: Uint8Array) => {
    left -= piece.length;
    if (left < 0) throw new HttpError(problemResponse(problem(413, `The body is larger than ${max} bytes.`)));
    return piece as Uint8Array<ArrayBuffer>;
  };
  if (!upload) {
    const body = request.body;
    if (body?.length) yield check(body);
    return;
  }
  for (let piece = await upload.next(); piece; piece = await upload.next()) yield check(piece);
}
