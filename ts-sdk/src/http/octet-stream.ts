import { problem } from "../http/problem.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { HttpError } from "./interrupt.ts";
import { isMediaType, isTaken } from "./media-type.ts";
import { contentType, type Request, uploadOf } from "./request.ts";
import { problemResponse } from "./response.ts";
import { takeUploads } from "./upload.ts";

const OCTETS = "application/octet-stream";

/** The data that a client sends as such a body: bytes, a `Blob` or a `ReadableStream` of bytes. */
export type OctetInput =
  | Uint8Array
  | { readonly size: number; readonly type: string; stream(): object }
  | { readonly locked: boolean; getReader(): object };

/** A body of bytes that the handler reads while it arrives, from `octetStream(…)`. */
export interface OctetStreamSchema extends StandardSchema<OctetInput, AsyncIterable<Uint8Array<ArrayBuffer>>> {
  /** The media types that are taken, as the OpenAPI document lists them. */
  readonly octets: readonly string[];
  /** @internal */
  readonly read: (request: Request) => AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Options of `octetStream`. */
export interface OctetStreamOptions {
  /** Bytes of the body; 413 beyond. The host's `max_upload_bytes` holds in any case. */
  readonly max?: number;
  /** Media types that are taken, such as `image/png` or `image/*`; 415 for another. Any when left out. */
  readonly types?: readonly string[];
}

/**
 * A body of bytes that the handler reads piece by piece while it arrives, so that it may be larger than memory:
 * `put("/files/{id}", { body: octetStream({ max: 1e9 }) }, async ({ body }) => { for await (const piece of body) … })`. It can be read
 * once. The host waits for the handler: nothing arrives that is not asked for.
 *
 * @throws TypeError at definition: `max` is no whole number, or `types` no list of media types.
 */
export function octetStream(options: OctetStreamOptions = {}): OctetStreamSchema {
  refuseUnknown("octetStream", options, ["max", "types"]);
  const { max = Number.POSITIVE_INFINITY, types = [] } = options;
  if (options.max !== undefined && !(Number.isInteger(max) && max >= 0)) {
    throw new TypeError(`octetStream: "max" is a number of bytes, not ${max}`);
  }
  for (const type of types) {
    if (!isMediaType(type)) {
      throw new TypeError(`octetStream: "types" has ${JSON.stringify(type)}, which is no media type`);
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

/** The pieces of a body, whether it arrives by and by or is there. */
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
