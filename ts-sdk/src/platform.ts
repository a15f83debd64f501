import {
  buildingKey,
  type callStreamsKey,
  type callsKey,
  type cancelKey,
  type codeModeKey,
  environmentKey,
  type isolateKey,
  type jsonWriterKey,
  type originKey,
  REQUEST_PREFIX,
  SECRET_PREFIX,
  type streamKey,
  type toolsKey,
  type uploadKey,
  variablesKey,
} from "./abi.ts";
import type { Shape } from "./app/shape.ts";
import type { CodeMode, Isolate } from "./mcp/code/types.ts";
import type { ToolTable } from "./mcp/types.ts";
import type { RawHeader, RawRequest, RawResponse } from "./raw.ts";
/**
 * The platform: the parts of the engine that the SDK needs, in one place. Everything else in the runtime half is plain
 * ECMAScript, so another engine needs only these globals.
 *
 * A host may forbid `new Function`; the SDK works without it (`schema/quick.ts`).
 *
 * The globals are looked up when they are used, never at module load: the module's top level runs while a component is
 * being snapshotted, when no host call is possible.
 */

/** One `[name, value]` pair of the environment the host injects. */
export type EnvironmentEntry = readonly [name: string, value: string];

/** The members of `fetch`'s response that the SDK uses. */
export interface PlatformResponse {
  readonly status: number;
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: PlatformStream | null;
}

/** The members of a readable stream of bytes that the SDK uses. */
export interface PlatformStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array<ArrayBuffer> }>;
    cancel(): Promise<void>;
  };
}

/** The options that the SDK passes to `fetch`. */
export interface PlatformRequest {
  method: string;
  headers: (readonly [string, string])[];
  body?: Uint8Array;
  redirect?: "manual";
  signal?: unknown;
}

/** A key of {@link PlatformCrypto}. */
export interface PlatformKey {
  readonly type: string;
}

/** The part of `crypto.subtle` that the SDK uses (Web Cryptography API, section 14.3). */
export interface PlatformCrypto {
  digest(algorithm: string, data: Uint8Array): Promise<ArrayBuffer>;
  importKey(
    format: "raw" | "jwk" | "spki" | "pkcs8",
    key: object,
    algorithm: object,
    extractable: false,
    usages: readonly string[],
  ): Promise<PlatformKey>;
  sign(algorithm: string | object, key: PlatformKey, data: Uint8Array): Promise<ArrayBuffer>;
  verify(algorithm: string | object, key: PlatformKey, signature: Uint8Array, data: Uint8Array): Promise<boolean>;
}

interface PlatformGlobals {
  TextEncoder: new () => { encode(text: string): Uint8Array };
  TextDecoder: new (
    label: string,
    options: { fatal: boolean; ignoreBOM: boolean },
  ) => { decode(bytes: Uint8Array): string };
  URL: new (
    url: string,
    base?: string,
  ) => {
    readonly href: string;
    hash: string;
    readonly protocol: string;
    readonly host: string;
    readonly username: string;
    readonly password: string;
  };
  AbortController?: new () => { readonly signal: unknown; abort(reason?: unknown): void };
  crypto: { randomUUID(): string; readonly subtle: PlatformCrypto };
  atob(text: string): string;
  btoa(text: string): string;
  console: { error(text: string): void };
  fetch(url: string, request: PlatformRequest): Promise<PlatformResponse>;
  Headers: new () => { append(name: string, value: string): void };
  Request: new (url: string, init: { method: string; headers: object; body?: object; duplex?: "half" }) => object;
  ReadableStream: new (
    source: {
      type?: "bytes";
      pull(controller: { enqueue(piece: Uint8Array): void; close(): void }): Promise<void>;
      cancel(): void;
    },
    strategy: { highWaterMark: number },
  ) => { readonly locked: boolean; getReader(): object };
  Response: new (body: object | null, init: { status: number; statusText: string; headers: object }) => object;
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
  [environmentKey]?: (() => readonly EnvironmentEntry[]) | undefined;
  [variablesKey]?: (names: readonly string[]) => (string | undefined)[];
  [originKey]?: () => RequestOrigin;
  [buildingKey]?: Map<object, Error>;
  [streamKey]?: OpenStream | undefined;
  [callsKey]?: StartCall;
  [cancelKey]?: CancelCall;
  [callStreamsKey]?: CallStreams;
  [uploadKey]?: Uploads;
  [toolsKey]?: (app: object) => ToolTable | undefined;
  [codeModeKey]?: CodeMode;
  [isolateKey]?: Isolate;
  [jsonWriterKey]?: (shape: Shape) => (value: unknown) => string | undefined;
}

/** The engine's globals, typed as narrowly as the SDK uses them. */
export const platform = globalThis as unknown as PlatformGlobals;

/** The scheme and the host of a request, where the host says so. */
type RequestOrigin = readonly [scheme: string | undefined, host: string | undefined];

/** The stream of the response that this instance is sending (`wit/streams.wit`). */
export interface OpenStream {
  /** Makes the next piece. The status says what the answer is. */
  next(): Promise<RawResponse>;
  /** Ends the stream early. */
  cancel(): Promise<void>;
}

/** Answers a call of the host's. */
export type RawHandler = (raw: RawRequest) => RawResponse | Promise<RawResponse>;

/**
 * The host's calls about requests whose bodies arrive piece by piece (`wit/streams.wit`), and about the streams of their
 * responses, which may wait for the body.
 */
export interface Uploads extends OpenStream {
  begin(raw: RawRequest, handle: RawHandler): Promise<RawResponse>;
  piece(bytes: Uint8Array | undefined): Promise<RawResponse>;
  end(): Promise<RawResponse>;
  broken(): Promise<RawResponse>;
}

/** An outbound call in one piece (`wit/calls.wit`). `timeoutMs` and `maxBytes` are 0 for the host's defaults. */
export interface OutgoingCall {
  readonly method: string;
  /** Absolute, without a fragment. */
  readonly url: string;
  readonly headers: readonly RawHeader[];
  readonly body: Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** The outcome of a call: a response, or a failure. */
export type CallOutcome =
  | { readonly status: number; readonly headers: readonly RawHeader[]; readonly body: Uint8Array<ArrayBuffer> }
  | CallFailure;

/** A failed call: a reason (the number of a case of `reason`) and a sentence. */
export interface CallFailure {
  readonly reason: number;
  readonly detail: string;
}

/** Makes a call. `started` gets its number. */
export type StartCall = (call: OutgoingCall, started?: (call: number) => void) => Promise<CallOutcome>;

/** Ends a call, whose promise is resolved with this outcome. Does nothing for a call that has ended. */
export type CancelCall = (call: number, outcome: CallOutcome) => void;

/** A piece of a response's body; `undefined` is its end. */
export type CallPiece = Uint8Array<ArrayBuffer> | undefined | CallFailure;

/** Streamed calls of the host, by handles (`wit/calls.wit`). A handle of a call that has ended does nothing. */
export interface CallStreams {
  /** Starts a call. With `hasMore`, `write` sends the rest of the body. */
  start(call: OutgoingCall, hasMore: boolean): number;
  /** The head of the response, with the first piece of its body or all of it. It can be asked for once. */
  head(handle: number): CallOutcome | Promise<CallOutcome>;
  /** Reads the next piece. Only one read may be pending. */
  read(handle: number): CallPiece | Promise<CallPiece>;
  /** Writes a piece, or without one the end. Returns the number of accepted bytes; `undefined` when no more are wanted. */
  write(handle: number, piece: Uint8Array | undefined): number | undefined;
  /** Waits until a write may be accepted. */
  room(handle: number): Promise<unknown> | undefined;
  /** Ends a call wherever it is. */
  cancel(handle: number): void;
}

/** Reports whether a variable is for the SDK alone: a secret, or a fact about the request. */
export function isReserved(name: string): boolean {
  return name.startsWith(SECRET_PREFIX) || name.startsWith(REQUEST_PREFIX);
}

/** The values of variables in the environment that the host injects, read once; `undefined` for those that are not set. */
export function findVariables(...names: readonly string[]): (string | undefined)[] {
  const { [environmentKey]: read, [variablesKey]: readSome } = platform;
  if (readSome && read) return readSome(names);
  const entries = read?.() ?? [];
  // An index and no destructuring, which takes the engine ten times as long.
  return names.map((name) => entries.find((entry) => entry[0] === name)?.[1]);
}

/** The value of one variable. */
export const findVariable = (name: string): string | undefined => findVariables(name)[0];

/**
 * Throws at the top level of a module that is being built, where there is no request.
 *
 * @param what the called function, for the error
 */
export function requireRequest(what: string): void {
  if (platform[buildingKey]) throw new Error(`${what}() works in a handler, not at top level`);
}

const encoder = new platform.TextEncoder();
const strictDecoder = new platform.TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenientDecoder = /* @__PURE__ */ new platform.TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** The UTF-8 bytes of a text; a lone surrogate becomes U+FFFD. */
export const encodeUtf8: (text: string) => Uint8Array = encoder.encode.bind(encoder);

/** The text of UTF-8 bytes, without a leading byte order mark; `undefined` when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(withoutMark(bytes));
  } catch {
    return undefined;
  }
}

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export function decodeUtf8Leniently(bytes: Uint8Array): string {
  return lenientDecoder.decode(withoutMark(bytes));
}

/** Removes a leading byte order mark, because engines differ in whether a decoder drops it. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
