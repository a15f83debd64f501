import type { RawResponse as SentResponse } from "../raw.ts";

/** The key of an answer's {@link Sending}. */
export const SENDING: unique symbol = Symbol() as never;

/** The parts of a `Response` (`response.ts`) that sending uses. */
export interface SendableResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: unknown;
  readonly [SENDING]?: Sending;
}

/** A cookie that is signed when its answer is sent. */
export interface LaterCookie {
  /** The number of `set-cookie` headers that the answer had before it. */
  readonly before: number;
  make(): Promise<SendableResponse["headers"][number]>;
}

/** The parts of an answer that only sending needs. */
export interface Sending {
  /** The body as JSON text, once it is written. */
  readonly text?: string;
  /** Cookies that are signed when the answer is sent, because signing is asynchronous. */
  readonly later?: readonly LaterCookie[];
  /** Adds the headers of `later`. It is stored with them, so that an app without any does not contain the code. */
  readonly complete?: <R extends SendableResponse>(response: R) => Promise<R>;
  /** Starts a streamed answer, or drops it when it is sent without a body. Returns the headers to append. */
  readonly start?: (isSent: boolean) => SentResponse["headers"];
}

/** The same answer with other headers. */
export function copyOf<R extends SendableResponse>(
  response: R,
  headers: SendableResponse["headers"],
  sending = response[SENDING],
): R {
  const Same = response.constructor as new (
    status: number,
    headers: SendableResponse["headers"],
    body: unknown,
    sending?: Sending,
  ) => R;
  return new Same(response.status, headers, response.body, sending);
}

/** The same answer with its asynchronous headers. */
export function completedResponse<R extends SendableResponse>(response: R): R | Promise<R> {
  return response[SENDING]?.complete?.(response) ?? response;
}
