/** The client of the sidecar `cache`. */
import { decodeBase64, encodeBase64 } from "../encoding/base64.ts";
import { encodeSegment } from "../encoding/path-segment.ts";
import { encodeUtf8 } from "../platform.ts";
import { atRehearsal } from "../rehearse.ts";
import { checkNumbers } from "./finite.ts";
import { askSidecar, type ListOptions, listQuery } from "./sidecar.ts";
import { bodyOf, type Storable, Stored } from "./stored.ts";

/** Options of storing a value. */
export interface CacheSetOptions {
  /** Seconds until the value expires; never when left out. At least 1. */
  readonly ttl?: number;
  /** The content type; fits the value when left out. */
  readonly contentType?: string;
  /** Names and values stored with the value: printable ASCII, 2 KiB together. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Sets the value only if the key is free. */
  readonly ifAbsent?: boolean;
  /** Sets the value only if the entry has this ETag: `(await cache.get(key))?.etag`. */
  readonly ifMatch?: string;
}

/** An entry of several that are stored at once. */
export interface CacheEntry extends Omit<CacheSetOptions, "ifAbsent" | "ifMatch"> {
  readonly key: string;
  readonly value: Storable;
}

/** Options of changing a counter. */
export interface CacheIncrOptions {
  /** The summand; negative to subtract; 1 when left out. */
  readonly by?: number;
  /** Seconds until a new counter expires; an existing one keeps its own time. */
  readonly ttl?: number;
  /** The smallest sum. */
  readonly min?: number;
  /** The largest sum. */
  readonly max?: number;
}

/** An entry in the answer to a request for several. */
interface WireEntry {
  readonly value?: string;
  readonly base64?: string;
  readonly content_type: string;
  readonly etag: string;
  readonly ttl?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A page of keys. */
export interface CacheList {
  readonly keys: readonly string[];
  /** `after` of the next page; `null` when this is the last one. */
  readonly next: string | null;
}

/**
 * The sidecar `cache`: values under keys.
 *
 * @example
 * await cache.set("greeting", "hello", { ttl: 60 });
 * const text = (await cache.get("greeting"))?.text();
 */
export const cache = {
  /** The value under a key; `undefined` when there is none or it has expired. @throws SidecarError */
  async get(key: string): Promise<Stored | undefined> {
    const response = await askSidecar("cache", { method: "GET", path: path(key), expect: [404] });
    return response.status === 404 ? undefined : Stored.of(response);
  },

  /** The values under each of the keys, in their order. @throws SidecarError */
  async getMany(keys: readonly string[]): Promise<(Stored | undefined)[]> {
    const response = await askSidecar("cache", { method: "POST", path: "/kv", json: { get: keys } });
    const { entries } = response.json() as { entries: readonly (WireEntry | null)[] };
    return entries.map((entry) => {
      if (entry === null) return undefined;
      const { value, base64 = "", content_type, etag, ttl, metadata } = entry;
      const bytes =
        value === undefined ? (decodeBase64(base64) ?? new Uint8Array()) : new Uint8Array(encodeUtf8(value));
      return new Stored(content_type, etag, ttl, bytes, metadata);
    });
  },

  /**
   * Stores a text, bytes, or `{ json: value }` under a key. Resolves to whether it was set: always, unless `ifAbsent`
   * or `ifMatch` is given.
   *
   * @throws SidecarError
   */
  async set(key: string, value: Storable, options: CacheSetOptions = {}): Promise<boolean> {
    const { ttl, contentType, metadata = {}, ifAbsent, ifMatch } = options;
    const { body, type } = bodyOf(value, contentType);
    const headers: [string, string][] = [["content-type", type]];
    for (const [name, text] of Object.entries(metadata)) headers.push([`x-meta-${name}`, text]);
    if (ifAbsent === true) headers.push(["if-none-match", "*"]);
    if (ifMatch !== undefined) headers.push(["if-match", ifMatch]);
    const query = ttl === undefined ? "" : `?ttl=${ttl}`;
    const asked = { method: "PUT", path: path(key) + query, headers, body, expect: [412] };
    return (await askSidecar("cache", asked)).status !== 412;
  },

  /**
   * Stores up to 1,000 entries in one request, all or none.
   *
   * @throws SidecarError; TypeError when a `ttl` is not finite
   */
  async setMany(entries: readonly CacheEntry[]): Promise<void> {
    const set = entries.map(({ key, value, contentType, ttl, metadata }) => {
      checkNumbers("cache.setMany", { ttl });
      const { body, type } = bodyOf(value, contentType);
      const bytes = typeof body === "string" ? { value: body } : { base64: encodeBase64(body) };
      return { key, ...bytes, content_type: type, ttl, metadata };
    });
    await askSidecar("cache", { method: "POST", path: "/kv", json: { set } });
  },

  /**
   * Adds to a counter, which begins at 0, and returns the sum.
   *
   * @throws SidecarError with status 409 beyond a bound; TypeError when an option is not finite
   */
  async incr(key: string, { by = 1, ...options }: CacheIncrOptions = {}): Promise<number> {
    checkNumbers("cache.incr", { by, ...options });
    const response = await askSidecar("cache", { method: "POST", path: path(key), json: { incr: by, ...options } });
    return (response.json() as { value: number }).value;
  },

  /** Makes an entry expire `ttl` seconds from now; resolves to whether there is one. @throws SidecarError */
  async touch(key: string, ttl: number): Promise<boolean> {
    const response = await askSidecar("cache", { method: "PATCH", path: `${path(key)}?ttl=${ttl}`, expect: [404] });
    return response.status !== 404;
  },

  /** Deletes a key; resolves to whether it existed. @throws SidecarError */
  async delete(key: string): Promise<boolean> {
    const response = await askSidecar("cache", { method: "DELETE", path: path(key), expect: [404] });
    return response.status !== 404;
  },

  /** Lists the keys in order, one page at a time. @throws SidecarError */
  async list(options: ListOptions = {}): Promise<CacheList> {
    const response = await askSidecar("cache", { method: "GET", path: `/kv${listQuery(options)}` });
    return response.json() as CacheList;
  },
} as const;

atRehearsal(async () => (await cache.get("x"))?.text());
atRehearsal(() => cache.set("x", "y", { ttl: 1 }));

function path(key: string): string {
  return `/kv/${encodeSegment("a key", key)}`;
}
