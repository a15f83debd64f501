/** The part of an answer's headers that is read (Fetch, section 5.1). */
export interface FetchHeaders extends Iterable<readonly [name: string, value: string]> {
  get(name: string): string | null;
  getSetCookie(): string[];
}

/** The part of a `Response` that is read (Fetch, section 5.5). */
export interface FetchResponse {
  readonly status: number;
  readonly headers: FetchHeaders;
  readonly body: FetchBody | null;
}

/** The part of a body's stream that is read (Streams, section 4). */
export interface FetchBody {
  getReader(): FetchReader;
}

/** A reader of a body's stream. */
export interface FetchReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(): Promise<unknown>;
}

/** The method of an app that speaks `fetch`. */
export type Fetch = (request: object, env: object, context: object) => FetchResponse | Promise<FetchResponse>;

/** An app that speaks `fetch`. */
export interface App {
  readonly fetch: Fetch;
}
