import { decodeUtf8Leniently } from "../platform.ts";
import type { HttpResponse } from "./response.ts";

/** What can be stored: a text, bytes, or with `json` a value. */
export type Storable = string | Uint8Array | { readonly json: unknown };

/** Something that was stored, whole. */
export class Stored {
  /** Its content type, as it was stored. */
  readonly contentType: string;
  /** Its ETag, with quotes; keys have none. */
  readonly etag: string | undefined;
  readonly #bytes: Uint8Array<ArrayBuffer>;

  /** @internal */
  constructor(response: HttpResponse) {
    this.contentType = response.headers.get("content-type") ?? "application/octet-stream";
    this.etag = response.headers.get("etag") ?? undefined;
    this.#bytes = response.bytes();
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  /** As text in UTF-8; what is not UTF-8 becomes U+FFFD. */
  text(): string {
    return decodeUtf8Leniently(this.#bytes);
  }

  /** As JSON, not validated: pass it to a schema. @throws SyntaxError when it is no JSON. */
  json(): unknown {
    return JSON.parse(this.text());
  }
}

/** A value as a body and its content type; `contentType` overrides the one that fits. */
export function bodyOf(value: Storable, contentType: string | undefined): { body: string | Uint8Array; type: string } {
  if (typeof value === "string") return { body: value, type: contentType ?? "text/plain; charset=utf-8" };
  if ("json" in value) return { body: JSON.stringify(value.json), type: contentType ?? "application/json" };
  return { body: value, type: contentType ?? "application/octet-stream" };
}
