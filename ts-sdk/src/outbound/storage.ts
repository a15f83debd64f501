/** The client of the sidecar `storage`. */
import { encodeSegment } from "../encoding/path-segment.ts";
import { checkNumbers } from "./finite.ts";
import type { HttpResponse } from "./response.ts";
import { askSidecar, type ListOptions, listQuery } from "./sidecar.ts";
import { bodyOf, type Storable, Stored } from "./stored.ts";

/** Properties stored with an object. */
export interface StorageKeptOptions {
  /** The content type; fits the value when left out. */
  readonly contentType?: string;
  /** Headers that are sent with the object. */
  readonly cacheControl?: string;
  readonly contentDisposition?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  /** Names and values sent as `X-Meta-<name>`: printable ASCII, 2 KiB together. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Conditions for storing an object. */
export interface StorageConditions {
  /** Stores only if the object has this ETag; otherwise a `SidecarError` with status 412. */
  readonly ifMatch?: string;
  /** `*`: stores only if there is no object; otherwise a `SidecarError` with status 412. */
  readonly ifNoneMatch?: string;
}

/** Options of storing an object. */
export interface StoragePutOptions extends StorageKeptOptions, StorageConditions {}

/** The result of storing an object. */
export interface StorageWritten {
  /** False when it replaced an object. */
  readonly created: boolean;
  readonly etag: string;
}

/** An object in a list. */
export interface StorageObject {
  readonly path: string;
  readonly size: number;
  readonly contentType: string;
  readonly etag: string;
  /** ISO 8601. */
  readonly modified: string;
}

/** An object in the answer to a request for a list. */
interface WireObject extends Omit<StorageObject, "contentType"> {
  readonly content_type: string;
}

/** A page of objects. */
export interface StorageList {
  readonly objects: readonly StorageObject[];
  /** With `delimiter`: each prefix up to and including the next slash, once. */
  readonly prefixes?: readonly string[];
  /** `after` of the next page; `null` when this is the last one. */
  readonly next: string | null;
}

/** Selects a page of a list of objects. */
export interface StorageListOptions extends ListOptions {
  /** Lists one folder: objects behind a further slash are grouped in `prefixes`. */
  readonly delimiter?: "/";
}

/** Options of a presigned URL. */
export interface StorageUrlOptions {
  /** `GET` when left out. */
  readonly method?: "GET" | "PUT";
  /** Seconds until the URL expires. */
  readonly expires?: number;
}

/** A part of an upload. */
export interface StoragePart {
  /** A number from 1 to 10,000. */
  readonly part: number;
  readonly etag: string;
  readonly size: number;
}

/** An upload in parts. */
export interface StorageUpload {
  readonly path: string;
  /** The id for {@link storage.resume}. Anyone who has it can write the object through the handler. */
  readonly id: string;
  /**
   * Sends a part, replaces an earlier one of its number, and returns its ETag. All but the last have 5 MiB or more.
   * @throws SidecarError
   */
  put(part: number, bytes: string | Uint8Array): Promise<string>;
  /** A URL to which a client can `PUT` the part without credentials. @throws SidecarError */
  url(part: number, options?: { readonly expires?: number }): Promise<string>;
  /** The parts that are stored, in order. @throws SidecarError */
  parts(): Promise<StoragePart[]>;
  /**
   * Makes the object from the given parts, or from all stored parts; their numbers begin at 1 without gaps. @throws
   * SidecarError
   */
  complete(
    options?: StorageConditions & { readonly parts?: readonly Pick<StoragePart, "part" | "etag">[] },
  ): Promise<StorageWritten>;
  /** Aborts the upload and deletes its parts. @throws SidecarError */
  abort(): Promise<void>;
}

/**
 * The sidecar `storage`: objects under paths.
 *
 * @example
 * await storage.put("avatars/7.png", bytes, { contentType: "image/png" });
 */
export const storage = {
  /**
   * An object, or with `range` its bytes from the first up to but not including the second; `undefined` when there is
   * none. `[4, Infinity]` is everything after the first four bytes.
   *
   * @throws SidecarError, with status 416 when the object ends before the range; TypeError for an invalid range
   */
  async get(
    objectPath: string,
    options: { readonly range?: readonly [from: number, to: number] } = {},
  ): Promise<Stored | undefined> {
    const { range } = options;
    const bytes = range === undefined ? undefined : bytesOf(range);
    const method = bytes === "" ? "HEAD" : "GET";
    const headers = bytes ? [["range", bytes] as const] : [];
    const response = await askSidecar("storage", { method, path: path(objectPath), headers, expect: [404] });
    return response.status === 404 ? undefined : Stored.of(response);
  },

  /** Stores a text, bytes, or `{ json: value }` under a path. @throws SidecarError */
  async put(objectPath: string, value: Storable, options: StoragePutOptions = {}): Promise<StorageWritten> {
    const { body, type } = bodyOf(value, options.contentType);
    const headers = [...keptHeaders(type, options), ...conditionHeaders(options)];
    const response = await askSidecar("storage", { method: "PUT", path: path(objectPath), headers, body });
    return written(response);
  },

  /** Deletes an object; resolves to whether it existed. @throws SidecarError */
  async delete(objectPath: string): Promise<boolean> {
    const response = await askSidecar("storage", { method: "DELETE", path: path(objectPath), expect: [404] });
    return response.status !== 404;
  },

  /** Copies an object to another path, with its properties. @throws SidecarError */
  async copy(from: string, to: string): Promise<StorageWritten> {
    path(from);
    const asked = `${path(to)}?copy=${encodeURIComponent(from)}`;
    const response = await askSidecar("storage", { method: "POST", path: asked });
    return written(response);
  },

  /**
   * A URL with which a client reads or writes the object without credentials, for `expires` seconds (900 when left out,
   * a week at most).
   *
   * @throws SidecarError; TypeError when `expires` is not finite
   */
  async url(objectPath: string, options: StorageUrlOptions = {}): Promise<string> {
    path(objectPath);
    return await signed({ path: objectPath, ...options });
  },

  /**
   * Begins an upload in parts, which outlives broken connections, restarts and this request. It expires a day after its
   * last part.
   *
   * @throws SidecarError
   */
  async upload(objectPath: string, options: StorageKeptOptions = {}): Promise<StorageUpload> {
    const headers = keptHeaders(options.contentType ?? "application/octet-stream", options);
    const response = await askSidecar("storage", { method: "POST", path: `${path(objectPath)}?upload`, headers });
    return uploadOf(objectPath, (response.json() as { upload: string }).upload);
  },

  /**
   * An upload that was begun before. This sends nothing; its methods throw a SidecarError with status 404 when it is
   * over.
   */
  resume: uploadOf,

  /** Lists the objects in the order of their paths, one page at a time. @throws SidecarError */
  async list(options: StorageListOptions = {}): Promise<StorageList> {
    let query = listQuery(options);
    if (options.delimiter !== undefined) query += `${query === "" ? "?" : "&"}delimiter=/`;
    const response = await askSidecar("storage", { method: "GET", path: `/storage${query}` });
    const { objects, ...page } = response.json() as Omit<StorageList, "objects"> & { objects: readonly WireObject[] };
    return { objects: objects.map(({ content_type: contentType, ...each }) => ({ ...each, contentType })), ...page };
  },
} as const;

function path(objectPath: string): string {
  if (typeof objectPath !== "string" || objectPath === "") return encodeSegment("a path", objectPath);
  // A segment may be empty.
  const segments = objectPath.split("/").map((segment) => segment && encodeSegment("a segment of a path", segment));
  return `/storage/${segments.join("/")}`;
}

/** The value of the header `range`; "" for an empty range, which HTTP does not have. */
function bytesOf({ 0: from, 1: to }: readonly [from: number, to: number]): string {
  const isOpen = to === Number.POSITIVE_INFINITY;
  if (!Number.isSafeInteger(from) || !(isOpen || Number.isSafeInteger(to)) || from < 0 || to < from) {
    throw new TypeError(
      'storage.get: "range" must be two whole numbers from 0 on, the second not below the first; it may be Infinity',
    );
  }
  return from === to ? "" : `bytes=${from}-${isOpen ? "" : to - 1}`;
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
      return await signed({ path: objectPath, method: "PUT", upload: id, part, ...options });
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

async function signed(json: object): Promise<string> {
  checkNumbers("storage", json);
  const response = await askSidecar("storage", { method: "POST", path: "/storage-url", json });
  return (response.json() as { url: string }).url;
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
