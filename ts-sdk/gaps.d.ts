/**
 * Globals that the engine lacks and that `tenon build` adds to a component which names them. The declarations are those of
 * TypeScript's lib.webworker.d.ts (Copyright Microsoft Corporation, Apache License 2.0), as far as they are added.
 */

interface TextDecoderStream extends GenericTransformStream {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  readonly readable: ReadableStream<string>;
  readonly writable: WritableStream<Uint8Array>;
}
declare var TextDecoderStream: {
  prototype: TextDecoderStream;
  new (label?: string, options?: TextDecoderOptions): TextDecoderStream;
};

interface TextEncoderStream extends GenericTransformStream {
  readonly encoding: string;
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<string>;
}
declare var TextEncoderStream: {
  prototype: TextEncoderStream;
  new (): TextEncoderStream;
};

interface URLPatternInit {
  baseURL?: string;
  hash?: string;
  hostname?: string;
  password?: string;
  pathname?: string;
  port?: string;
  protocol?: string;
  search?: string;
  username?: string;
}
interface URLPatternComponentResult {
  input: string;
  groups: Record<string, string | undefined>;
}
interface URLPatternResult {
  inputs: (string | URLPatternInit)[];
  hash: URLPatternComponentResult;
  hostname: URLPatternComponentResult;
  password: URLPatternComponentResult;
  pathname: URLPatternComponentResult;
  port: URLPatternComponentResult;
  protocol: URLPatternComponentResult;
  search: URLPatternComponentResult;
  username: URLPatternComponentResult;
}
interface URLPattern {
  readonly hash: string;
  readonly hasRegExpGroups: boolean;
  readonly hostname: string;
  readonly password: string;
  readonly pathname: string;
  readonly port: string;
  readonly protocol: string;
  readonly search: string;
  readonly username: string;
  exec(input?: string | URLPatternInit, baseURL?: string): URLPatternResult | null;
  test(input?: string | URLPatternInit, baseURL?: string): boolean;
}
declare var URLPattern: {
  prototype: URLPattern;
  new (input: string | URLPatternInit, baseURL: string, options?: { ignoreCase?: boolean }): URLPattern;
  new (input?: string | URLPatternInit, options?: { ignoreCase?: boolean }): URLPattern;
};

declare var navigator: { readonly userAgent: string };

/** The event of a request, in an app that adds a listener of `fetch` (`docs/fetch.md`). */
interface FetchEvent {
  readonly type: "fetch";
  readonly request: Request;
  respondWith(response: Response | Promise<Response>): void;
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
}
type FetchListener = ((event: FetchEvent) => unknown) | { handleEvent(event: FetchEvent): unknown };
declare function addEventListener(type: "fetch", listener: FetchListener): void;
declare function removeEventListener(type: "fetch", listener: FetchListener): void;
