import { askSidecar, encodeKey, type ListOptions, listQuery } from "./sidecar.ts";
import { bodyOf, type Storable, Stored } from "./stored.ts";

/** How an object is stored. */
export interface StoragePutOptions {
  /** What fits the value when left out. */
  readonly contentType?: string;
  /** Headers that are sent with the object. */
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  /** Names and values of one's own, which are sent as `X-Meta-<name>`: printable ASCII, 2 KiB together. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Only in place of the object that has this ETag; otherwise a `SidecarError` with status 412. */
  readonly ifMatch?: string;
  /** `*`: only where there is no object yet; otherwise a `SidecarError` with status 412. */
  readonly ifNoneMatch?: string;
}

/** What became of an object that was stored. */
export interface StorageWritten {
  /** False when there was one before. */
  readonly created: boolean;
  readonly etag: string;
}

/** What a list says of an object. */
export interface StorageObject {
  readonly path: string;
  readonly size: number;
  readonly content_type: string;
  readonly etag: string;
  /** ISO 8601. */
  readonly modified: string;
}

/** A page of objects. */
export interface StorageList {
  readonly objects: readonly StorageObject[];
  /** With `delimiter`: what stands behind the next slash is one prefix, with the slash. */
  readonly prefixes?: readonly string[];
  /** `after` of the next page; `null` when this is the last one. */
  readonly next: string | null;
}

/** Which page of a list of objects. */
export interface StorageListOptions extends ListOptions {
  /** Lists one folder: the objects behind the next slash are one of `prefixes`. */
  readonly delimiter?: "/";
}

/** The sidecar `storage`: objects under paths. */
export const storage = {
  /** An object, or with `range` the bytes from the first to before the second; `undefined` when there is none. @throws SidecarError */
  async get(
    objectPath: string,
    options: { readonly range?: readonly [from: number, to: number] } = {},
  ): Promise<Stored | undefined> {
    const { range } = options;
    const headers = range === undefined ? [] : [["range", `bytes=${range[0]}-${range[1] - 1}`] as const];
    const response = await askSidecar("storage", { method: "GET", path: path(objectPath), headers, expect: [404] });
    return response.status === 404 ? undefined : Stored.of(response);
  },

  /** Stores a text, bytes, or `{ json: value }` under a path. @throws SidecarError */
  async put(objectPath: string, value: Storable, options: StoragePutOptions = {}): Promise<StorageWritten> {
    const { body, type } = bodyOf(value, options.contentType);
    const headers: [string, string][] = [["content-type", type]];
    const { cacheControl, contentDisposition, contentEncoding, contentLanguage, metadata = {} } = options;
    if (cacheControl !== undefined) headers.push(["cache-control", cacheControl]);
    if (contentDisposition !== undefined) headers.push(["content-disposition", contentDisposition]);
    if (contentEncoding !== undefined) headers.push(["content-encoding", contentEncoding]);
    if (contentLanguage !== undefined) headers.push(["content-language", contentLanguage]);
    for (const [name, text] of Object.entries(metadata)) headers.push([`x-meta-${name}`, text]);
    if (options.ifMatch !== undefined) headers.push(["if-match", options.ifMatch]);
    if (options.ifNoneMatch !== undefined) headers.push(["if-none-match", options.ifNoneMatch]);
    const response = await askSidecar("storage", { method: "PUT", path: path(objectPath), headers, body });
    return { created: response.status === 201, etag: response.headers.get("etag") ?? "" };
  },

  /** Whether there was an object to delete. @throws SidecarError */
  async delete(objectPath: string): Promise<boolean> {
    const response = await askSidecar("storage", { method: "DELETE", path: path(objectPath), expect: [404] });
    return response.status !== 404;
  },

  /** Keeps a copy of an object under another path, with all that is kept with it. @throws SidecarError */
  async copy(from: string, to: string): Promise<StorageWritten> {
    path(from);
    const asked = `${path(to)}?copy=${encodeURIComponent(from)}`;
    const response = await askSidecar("storage", { method: "POST", path: asked });
    return { created: response.status === 201, etag: response.headers.get("etag") ?? "" };
  },

  /**
   * A URL by which a client reaches the object without credentials, for `expires` seconds (900 when left out, a week at most).
   *
   * @throws SidecarError
   */
  async url(
    objectPath: string,
    options: { readonly method?: "GET" | "PUT"; readonly expires?: number } = {},
  ): Promise<string> {
    path(objectPath);
    const json = { path: objectPath, ...options };
    const response = await askSidecar("storage", { method: "POST", path: "/storage-url", json });
    return (response.json() as { url: string }).url;
  },

  /** The objects in the order of their paths, one page at a time. @throws SidecarError */
  async list(options: StorageListOptions = {}): Promise<StorageList> {
    const query = listQuery(options);
    const delimiter = options.delimiter === undefined ? "" : `${query === "" ? "?" : "&"}delimiter=/`;
    const response = await askSidecar("storage", { method: "GET", path: `/storage${query}${delimiter}` });
    return response.json() as StorageList;
  },
} as const;

function path(objectPath: string): string {
  if (typeof objectPath !== "string" || objectPath === "") return encodeKey("a path", objectPath);
  // Between two slashes there may be nothing.
  const segments = objectPath.split("/").map((segment) => segment && encodeKey("a segment of a path", segment));
  return `/storage/${segments.join("/")}`;
}
