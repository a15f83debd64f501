/**
 * The request and the response of Node's server, as far as callers have to give them: programs without the types of Node read these
 * declarations, too.
 */

/** An `IncomingMessage` of Node's `http`, or the request of `http2`'s compatibility API. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: object;
  readonly rawHeaders: readonly string[];
}

/** The `ServerResponse` that belongs to it. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
}

/** `Runtime.handle`. */
export interface Handle {
  (request: NodeRequest, response: NodeResponse): Promise<void>;
  /** Returns undefined when it called `next`. */
  (request: NodeRequest, response: NodeResponse, next: (() => void) | undefined): Promise<void> | undefined;
}
