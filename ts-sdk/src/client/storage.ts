import type { HttpResponse } from "./response.ts";
import { askSidecar, encodeKey, type ListOptions, listQuery } from "./sidecar.ts";
import { bodyOf, type Storable, Stored } from "./stored.ts";

/** What is kept with an object. */
export interface StorageKeptOptions {
  /** What fits the value when left out. */
  readonly contentType?: string;
  /** Headers that are sent with the object. */
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  /** Names and values of one's own, which are sent as `X-Meta-<name>`: printable ASCII, 2 KiB together. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** On what an object is stored. */
export interface StorageConditions {
  /** Only in place of the object that has this ETag; otherwise a `SidecarError` with status 412. */
  readonly ifMatch?: string;
  /** `*`: only where there is no object yet; otherwise a `SidecarError` with status 412. */
  readonly ifNoneMatch?: string;
}

/** How an object is stored. */
export interface StoragePutOptions extends StorageKeptOptions, StorageConditions {}

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

/** How a URL is made. */
export interface StorageUrlOptions {
  /** `GET` when left out. */
  readonly method?: "GET" | "PUT";
  /** Seconds. */
  readonly expires?: number;
}

/** A part of an upload. */
export interface StoragePart {
  /** From 1 to 10,000. */
  readonly part: number;
  readonly etag: string;
  readonly size: number;
}

/** An upload in parts. */
export interface StorageUpload {
  readonly path: string;
  /** By which {@link storage.resume} finds it again. Who knows it can write the object, by way of the handler. */
  readonly id: string;
  /** Sends a part in place of an earlier one of its number; its ETag. All but the last have 5 MiB or more. @throws SidecarError */
  put(part: number, bytes: string | Uint8Array): Promise<string>;
  /** A URL to which a client can `PUT` the part without credentials. @throws SidecarError */
  url(part: number, options?: { readonly expires?: number }): Promise<string>;
  /** The parts that are there, in order. @throws SidecarError */
  parts(): Promise<StoragePart[]>;
  /** Makes the object of the parts, or of all that are there, which must be those from 1 on. @throws SidecarError */
  complete(
    options?: StorageConditions & { readonly parts?: readonly Pick<StoragePart, "part" | "etag">[] },
  ): Promise<StorageWritten>;
  /** Gives the upload up, with its parts. @throws SidecarError */
  abort(): Promise<void>;
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
    const headers = [...keptHeaders(type, options), ...conditionHeaders(options)];
    const response = await askSidecar("storage", { method: "PUT", path: path(objectPath), headers, body });
    return written(response);
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
    return written(response);
  },

  /**
   * A URL by which a client reaches the object without credentials, for `expires` seconds (900 when left out, a week at most).
   *
   * @throws SidecarError
   */
  async url(objectPath: string, options: StorageUrlOptions = {}): Promise<string> {
    path(objectPath);
    const json = { path: objectPath, ...options };
    const response = await askSidecar("storage", { method: "POST", path: "/storage-url", json });
    return (response.json() as { url: string }).url;
  },

  /**
   * Begins an upload in parts, which outlives broken connections, restarts and this request. It is kept for a day after its last
   * part.
   *
   * @throws SidecarError
   */
  async upload(objectPath: string, options: StorageKeptOptions = {}): Promise<StorageUpload> {
    const headers = keptHeaders(options.contentType ?? "application/octet-stream", options);
    const response = await askSidecar("storage", { method: "POST", path: `${path(objectPath)}?upload`, headers });
    return uploadOf(objectPath, (response.json() as { upload: string }).upload);
  },

  /** An upload that was begun before. Nothing is asked yet: its methods throw a SidecarError with status 404 when it is over. */
  resume: uploadOf,

  /** The objects in the order of their paths, one page at a time. @throws SidecarError */
  async list(options: StorageListOptions = {}): Promise<StorageList> {
    let query = listQuery(options);
    if (options.delimiter !== undefined) query += `${query === "" ? "?" : "&"}delimiter=/`;
    const response = await askSidecar("storage", { method: "GET", path: `/storage${query}` });
    return response.json() as StorageList;
  },
} as const;

function path(objectPath: string): string {
  if (typeof objectPath !== "string" || objectPath === "") return encodeKey("a path", objectPath);
  // Between two slashes there may be nothing.
  const segments = objectPath.split("/").map((segment) => segment && encodeKey("a segment of a path", segment));
  return `/storage/${segments.join("/")}`;
}

function uploadOf(objectPath: string, id: string): StorageUpload {
  const base = `${path(objectPath)}?upload=${encodeURIComponent(id)}`;
  const ask = (method: string, more: string, asked: object = {}) =>
    askSidecar("storage", { method, path: base + more, ...asked });
  const parts = async () => ((await ask("GET", "")).json() as { parts: StoragePart[] }).parts;
  return {
    path: objectPath,
    id,
    parts,
    async put(part, bytes) {
      const { body } = bodyOf(bytes, undefined);
      return (await ask("PUT", `&part=${part}`, { body })).headers.get("etag") ?? "";
    },
    async url(part, options = {}) {
      const json = { path: objectPath, method: "PUT", upload: id, part, ...options };
      const response = await askSidecar("storage", { method: "POST", path: "/storage-url", json });
      return (response.json() as { url: string }).url;
    },
    async complete(options = {}) {
      const json = { parts: options.parts ?? (await parts()) };
      return written(await ask("POST", "&complete", { headers: conditionHeaders(options), json }));
    },
    async abort() {
      await ask("DELETE", "");
    },
  };
}

type Headers = [name: string, value: string][];

function keptHeaders(type: string, options: StorageKeptOptions): Headers {
  const headers: Headers = [["content-type", type]];
  const { cacheControl, contentDisposition, contentEncoding, contentLanguage, metadata = {} } = options;
  if (cacheControl !== undefined) headers.push(["cache-control", cacheControl]);
  if (contentDisposition !== undefined) headers.push(["content-disposition", contentDisposition]);
  if (contentEncoding !== undefined) headers.push(["content-encoding", contentEncoding]);
  if (contentLanguage !== undefined) headers.push(["content-language", contentLanguage]);
  for (const [name, text] of Object.entries(metadata)) headers.push([`x-meta-${name}`, text]);
  return headers;
}

function conditionHeaders(options: StorageConditions): Headers {
  const headers: Headers = [];
  if (options.ifMatch !== undefined) headers.push(["if-match", options.ifMatch]);
  if (options.ifNoneMatch !== undefined) headers.push(["if-none-match", options.ifNoneMatch]);
  return headers;
}

function written(response: HttpResponse): StorageWritten {
  return { created: response.status === 201, etag: response.headers.get("etag") ?? "" };
}
