/** The part of an answer's headers that is read (Fetch, section 5.1). */
export interface FetchHeaders extends Iterable<readonly [name: string, value: string]> {
  get(name: string): string | null;
  getSetCookie(): string[];
}

/** The part of a `Response` that is read (Fetch, section 5.5). */
export interface FetchResponse {
  readonly status: number;
  readonly headers: FetchHeaders;
  readonly body: object | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The method of an app that speaks `fetch`. */
export type Fetch = (request: object, env: object, context: object) => FetchResponse | Promise<FetchResponse>;
