import { askSidecar, encodeKey, type ListOptions, listQuery } from "./sidecar.ts";
import { bodyOf, type Storable, Stored } from "./stored.ts";

/** How a value is kept. */
export interface CacheSetOptions {
  /** Seconds until it is gone; for good when left out. At least 1. */
  readonly ttl?: number;
  /** What fits the value when left out. */
  readonly contentType?: string;
}

/** A page of keys. */
export interface CacheList {
  readonly keys: readonly string[];
  /** `after` of the next page; `null` when this is the last one. */
  readonly next: string | null;
}

/** The sidecar `cache`: values under keys. */
export const cache = {
  /** What is kept under a key; `undefined` when nothing is, or its time is over. @throws SidecarError */
  async get(key: string): Promise<Stored | undefined> {
    const response = await askSidecar("cache", { method: "GET", path: path(key), expect: [404] });
    return response.status === 404 ? undefined : new Stored(response);
  },

  /** Keeps a text, bytes, or `{ json: value }` under a key. @throws SidecarError */
  async set(key: string, value: Storable, { ttl, contentType }: CacheSetOptions = {}): Promise<void> {
    const { body, type } = bodyOf(value, contentType);
    const query = ttl === undefined ? "" : `?ttl=${ttl}`;
    await askSidecar("cache", { method: "PUT", path: path(key) + query, headers: [["content-type", type]], body });
  },

  /** Whether there was something under the key to delete. @throws SidecarError */
  async delete(key: string): Promise<boolean> {
    const response = await askSidecar("cache", { method: "DELETE", path: path(key), expect: [404] });
    return response.status !== 404;
  },

  /** The keys in order, one page at a time. @throws SidecarError */
  async list(options: ListOptions = {}): Promise<CacheList> {
    const response = await askSidecar("cache", { method: "GET", path: `/kv${listQuery(options)}` });
    return response.json() as CacheList;
  },
} as const;

function path(key: string): string {
  return `/kv/${encodeKey("a key", key)}`;
}
