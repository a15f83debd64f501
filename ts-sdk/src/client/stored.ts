import { decodeUtf8Leniently } from "../platform.ts";
import type { HttpResponse } from "./response.ts";

/** What can be stored: a text, bytes, or with `json` a value. */
export type Storable = string | Uint8Array | { readonly json: unknown };

/** Something that was stored, whole. */
export class Stored {
  /** Its content type, as it was stored. */
  readonly contentType: string;
  /** Its ETag, with quotes. */
  readonly etag: string | undefined;
  /** Of a key: the seconds that it has left; `undefined` when it is kept for good. */
  readonly ttl: number | undefined;
  /** Of an object: names and values that were stored with it. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly #bytes: Uint8Array<ArrayBuffer>;

  /** @internal */
  constructor(
    contentType: string,
    etag: string | undefined,
    ttl: number | undefined,
    bytes: Uint8Array<ArrayBuffer>,
    metadata: Readonly<Record<string, string>> = {},
  ) {
    this.contentType = contentType;
    this.etag = etag;
    this.ttl = ttl;
    this.#bytes = bytes;
    this.metadata = metadata;
  }

  /** @internal */
  static of(response: HttpResponse): Stored {
    const header = (name: string) => response.headers.get(name) ?? undefined;
    const ttl = header("x-cache-ttl");
    return new Stored(
      header("content-type") ?? "application/octet-stream",
      header("etag"),
      ttl === undefined ? undefined : Number(ttl),
      response.bytes(),
      Object.fromEntries(
        [...response.headers].flatMap(([name, value]) =>
          name.startsWith("x-meta-") ? [[name.slice("x-meta-".length), value]] : [],
        ),
      ),
    );
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
