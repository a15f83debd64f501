import type { RawResponse as SentResponse } from "../app/app.ts";
import type { Response } from "./response.ts";

/** The key of an answer's {@link Sending}. */
export const SENDING: unique symbol = Symbol() as never;

/** The parts of an answer that only sending needs. */
export interface Sending {
  /** The body as JSON text, once it is written. */
  readonly text?: string;
  /** Headers that are computed asynchronously, such as signed cookies. */
  readonly later?: readonly (() => Promise<readonly [name: string, value: string]>)[];
  /** Appends the headers of `later`. It is stored with them, so that an app without any does not contain the code. */
  readonly complete?: (response: Response) => Promise<Response>;
  /** Starts a streamed answer, or drops it when it is sent without a body. Returns the headers to append. */
  readonly start?: (isSent: boolean) => SentResponse["headers"];
}

/** The same answer with other headers. */
export function copyOf<R extends Response>(response: R, headers: Response["headers"], sending = response[SENDING]): R {
  const Same = response.constructor as new (
    status: number,
    headers: Response["headers"],
    body: unknown,
    sending?: Sending,
  ) => R;
  return new Same(response.status, headers, response.body, sending);
}

/** The same answer with its asynchronous headers. */
export function completedResponse(response: Response): Response | Promise<Response> {
  return response[SENDING]?.complete?.(response) ?? response;
}
