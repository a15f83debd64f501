import type { RawRequest } from "../http/request.ts";
import type { Operation } from "../routing/operation.ts";

/** A response as the component interface takes it (`sdk:core/handler`, record `response`). */
export interface RawResponse {
  status: number;
  headers: [name: string, value: Uint8Array][];
  body?: Uint8Array;
}

/** How {@link App.handle} goes about a request. */
export interface HandleOptions {
  /**
   * Check what handlers return against the status and body their routes declare, and answer 500 saying where they
   * differ. On in `tenon dev` and in tests, off in `tenon run`.
   */
  readonly checkResponses?: boolean;
}

/** The key of {@link App}'s brand, for telling an app from another default export. */
export const appKey: unique symbol = Symbol.for("tenon.app") as never;

/** An app, from `routes`: the default export of a handler module. */
export interface App {
  readonly [appKey]: true;
  /** The routes as plain data, in the order of declaration; the OpenAPI document is written from them. */
  readonly operations: readonly Operation[];
  /** Answers a request. It never rejects, whatever the handler does. */
  handle(request: RawRequest, options?: HandleOptions): Promise<RawResponse>;
}
