import type { RawRequest } from "../http/request.ts";
import type { Response } from "../http/response.ts";
import type { AnyHandler, Operation } from "../routing/operation.ts";
import type { Around } from "../routing/step.ts";

/** A response as the component interface takes it (`sdk:core/handler`, record `response`). */
export interface RawResponse {
  status: number;
  headers: readonly (readonly [name: string, value: Uint8Array])[];
  body?: Uint8Array;
}

/** How {@link App.handle} goes about a request. */
export interface HandleOptions {
  /**
   * What compares a handler's answer with the status and body its route declares: `checkResponse` in `tenon dev` and in
   * tests, nothing in `tenon run`. A function and not a switch, so that what is built to be served does not hold it.
   */
  readonly checkResponse?: CheckResponse;
  /** What is called in the place of every handler, while an app is warmed up. */
  readonly insteadOfHandlers?: AnyHandler;
}

/** Gives the answer to send: the handler's own, or one that says where it differs from what its route declares. */
export type CheckResponse = (operation: Operation, response: Response) => Promise<Response>;

/** The key of {@link App}'s brand, for telling an app from another default export. */
export const appKey: unique symbol = Symbol.for("tenon.app") as never;

/**
 * An app, from `routes`: the default export of a handler module. The type argument serves the type checker alone: the
 * definitions that it was made of, for a typed client.
 */
export interface App<out D = unknown> {
  readonly [appKey]: true;
  /** Never there: it carries the types. */
  readonly "~types"?: { readonly definitions: D };
  /** What the paths of all routes begin with; empty when nothing is given. */
  readonly prefix: string;
  /** The middleware around every request, the outermost first. */
  readonly use: readonly Around[];
  /** The routes as plain data, in the order of declaration; the OpenAPI document is written from them. */
  readonly operations: readonly Operation[];
  /**
   * Answers a request: at once, unless the handler, or a schema of another library, keeps it waiting. It never throws or
   * rejects, whatever the handler does.
   */
  handle(request: RawRequest, options?: HandleOptions): RawResponse | Promise<RawResponse>;
}
