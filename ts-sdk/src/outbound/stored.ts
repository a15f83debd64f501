import { decodeUtf8Leniently } from "../platform.ts";
import type { HttpResponse } from "./response.ts";

/** A value that can be stored: a text, bytes, or with `json` any value. */
export type Storable = string | Uint8Array | { readonly json: unknown };

/** A stored value, read as a whole. */
export class Stored {
  /** Its content type, as it was stored. */
  readonly contentType: string;
  /** Its ETag, with quotes. */
  readonly etag: string | undefined;
  /** The seconds until a key expires; `undefined` when it never does. */
  readonly ttl: number | undefined;
  /** The names and values stored with an object. */
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

  /** The value as text in UTF-8; invalid bytes become U+FFFD. */
  text(): string {
    return decodeUtf8Leniently(this.#bytes);
  }

  /** The value as JSON, not validated: pass it to a schema. @throws SyntaxError when it is not JSON. */
  json(): unknown {
    return JSON.parse(this.text());
  }
}

/** Converts a value to a body and its content type; `contentType` overrides the one that fits. */
export function bodyOf(value: Storable, contentType: string | undefined): { body: string | Uint8Array; type: string } {
  if (typeof value === "string") return { body: value, type: contentType ?? "text/plain; charset=utf-8" };
  if ("json" in value) return { body: JSON.stringify(value.json), type: contentType ?? "application/json" };
  return { body: value, type: contentType ?? "application/octet-stream" };
}
