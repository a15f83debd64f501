/** The members of an answer's headers that are used (Fetch, section 5.1). */
export interface FetchHeaders extends Iterable<readonly [name: string, value: string]> {
  get(name: string): string | null;
  getSetCookie(): string[];
}

/** The members of a `Response` that are used (Fetch, section 5.5). */
export interface FetchResponse {
  readonly status: number;
  readonly headers: FetchHeaders;
  readonly body: FetchBody | null;
}

/** The members of a body's stream that are used (Streams, section 4). */
export interface FetchBody {
  getReader(): FetchReader;
}

/** A reader of a body's stream. */
export interface FetchReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
  cancel(): Promise<unknown>;
}

/** The `fetch` method of an app. */
export type Fetch = (request: object, env: object, context: object) => FetchResponse | Promise<FetchResponse>;

/** An app that speaks `fetch`. */
export interface App {
  readonly fetch: Fetch;
}
