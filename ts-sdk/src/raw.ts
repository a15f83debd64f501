/** The records of the component interface (`wit/handler.wit`, `wit/streams.wit`). */

/** A header: the value is bytes. */
export type RawHeader = [name: string, value: Uint8Array];

/** A request (record `request`). */
export interface RawRequest {
  /** The method as it came: methods are case-sensitive. */
  readonly method: string;
  /** The path, and after a `?` the query, both still encoded. */
  readonly pathWithQuery: string;
  readonly headers: RawHeader[];
  /** The value of `content-type` in `headers`, from a host that can read it alone; values are joined by `", "`. */
  readonly contentType?: string | undefined;
  /** The value of `host` in `headers`, from a host that can read it alone. */
  readonly host?: string | undefined;
  readonly body?: Uint8Array | undefined;
  /** The body in place of `body`, when it arrives while the handler runs. */
  readonly upload?: ArrivingBody | undefined;
}

/** A response (record `response`). */
export interface RawResponse {
  status: number;
  headers: readonly (readonly [name: string, value: Uint8Array])[];
  body?: Uint8Array;
}

/** A body that the host passes on demand: of a request, or of a response to a call. Only one read may be pending. */
export interface ArrivingBody {
  /**
   * Waits for the next piece; `undefined` is the end.
   *
   * @throws Error when the body breaks off
   */
  next(): Promise<Uint8Array | undefined>;
  /**
   * Waits for the rest, in one piece.
   *
   * @throws Error when the body breaks off, or is larger than the host allows
   */
  rest(): Promise<Uint8Array>;
  /** Gives the rest up. */
  cancel?(): void;
}
