import type { appKey } from "../abi.ts";
/** An app: the routes of a module, and the function that answers requests with them. */
import type { McpOptions } from "../mcp/types.ts";
import type { RawRequest, RawResponse } from "../raw.ts";
import type { CheckResponse, Operation } from "../routing/operation.ts";
import type { Around } from "../routing/step.ts";

/** Options of {@link App.handle}. */
export interface HandleOptions {
  /**
   * Compares a handler's answer with the status and body that its route declares: `checkResponse` in `tenon dev` and in
   * tests, nothing in `tenon run`. It is a function and not a switch, so that a served component does not contain the
   * code.
   */
  readonly checkResponse?: CheckResponse;
}

/**
 * An app, from `routes`: the default export of a handler module. The type argument carries the definitions for a typed
 * client, and exists for the type checker alone.
 */
export interface App<out D = unknown> {
  readonly [appKey]: true;
  /** Never set: it carries the types. */
  readonly "~types"?: { readonly definitions: D };
  /** The prefix of all routes' paths; empty by default. */
  readonly prefix: string;
  /** The middleware around every request, the outermost first. */
  readonly use: readonly Around[];
  /** The routes as plain data, in the order of declaration; the OpenAPI document is written from them. */
  readonly operations: readonly Operation[];
  /** The option `mcp`, for the build. */
  readonly mcp?: McpOptions;
  /**
   * Answers a request: at once, unless the handler or a schema of another library is asynchronous. It never throws or
   * rejects, whatever the handler does.
   */
  handle(request: RawRequest, options?: HandleOptions): RawResponse | Promise<RawResponse>;
}
