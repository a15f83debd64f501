/** `httpClient`: calls to other hosts, with limits. */

import { callsKey, EGRESS } from "../abi.ts";
import { isBytes } from "../http/bytes.ts";
import { checkHeader, encodeValue, Headers, isToken } from "../http/headers.ts";
import { writeJson } from "../http/json.ts";
import { JSON_TYPE } from "../http/response.ts";
import { encodeUtf8, type PlatformRequest, platform } from "../platform.ts";
import type { RawHeader } from "../raw.ts";
import { atRehearsal } from "../rehearse.ts";
import { explainedCode, HttpClientError, type HttpClientErrorCode, networkErrorCode } from "./errors.ts";
import { readBody, tooLarge } from "./read-body.ts";
import { HttpResponse } from "./response.ts";

/** The time limit of an exchange, unless `timeout` sets another, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 30_000;
/** The size limit of an answer, unless `maxBytes` sets another: 10 MiB. */
export const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;

/** The longest timeout that timers take: a longer one would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;
/** The largest number of 32 bits. */
const LARGEST_BODY = 2 ** 32 - 1;

/** A request builder: `await httpClient.request().post(url).header(name, value).json(value).send()`. */
export class HttpRequest {
  #method = "GET";
  #url = "";
  readonly #headers: (readonly [string, string])[] = [];
  #body: Uint8Array | undefined;
  #isJson = false;
  #timeout = DEFAULT_TIMEOUT_MS;
  #maxBytes = DEFAULT_MAX_BYTES;

  /** A GET request to an absolute `http` or `https` URL. */
  get(url: string): this {
    return this.method("GET", url);
  }

  /** A HEAD request. */
  head(url: string): this {
    return this.method("HEAD", url);
  }

  /** A POST request. */
  post(url: string): this {
    return this.method("POST", url);
  }

  /** A PUT request. */
  put(url: string): this {
    return this.method("PUT", url);
  }

  /** A PATCH request. */
  patch(url: string): this {
    return this.method("PATCH", url);
  }

  /** A DELETE request. */
  del(url: string): this {
    return this.method("DELETE", url);
  }

  /** A request with any method. */
  method(method: string, url: string): this {
    this.#method = method;
    this.#url = url;
    return this;
  }

  /** Adds a header. @throws TypeError naming the header when it can't be sent. */
  header(name: string, value: string): this {
    this.#headers.push(checkHeader(name, value));
    return this;
  }

  /**
   * Sets a JSON body, from a value or from bytes that are JSON already. The content type is set unless a header sets
   * it.
   */
  json(value: unknown): this {
    this.body(isBytes(value) ? value : writeJson(value));
    this.#isJson = true;
    return this;
  }

  /** Sets a body of bytes, or of text in UTF-8. */
  body(body: string | Uint8Array): this {
    this.#body = typeof body === "string" ? encodeUtf8(body) : body;
    this.#isJson = false;
    return this;
  }

  /** Sets the time limit of the exchange, in milliseconds; 30,000 by default. */
  timeout(milliseconds: number): this {
    this.#timeout = milliseconds;
    return this;
  }

  /** Sets the size limit of the answer's body; 10 MiB by default. */
  maxBytes(bytes: number): this {
    this.#maxBytes = bytes;
    return this;
  }

  /**
   * Keeps a request from being written as JSON, where it would be `{}`.
   *
   * @throws TypeError
   */
  toJSON(): never {
    throw new TypeError("the request was not sent; send it first: ok((await request.send()).json())");
  }

  /**
   * Sends the request and reads the whole answer, whatever its status. Redirects are not followed.
   *
   * @throws HttpClientError when there is no answer; its `code` says why.
   */
  async send(): Promise<HttpResponse> {
    const method = methodOf(this.#method);
    const { host, href } = destinationOf(this.#url);
    const where = `${method} ${host}`;
    if (this.#body !== undefined && /^(?:GET|HEAD)$/.test(method)) {
      throw new HttpClientError("invalid", `${where}: such a request must have no body`);
    }
    const headers = this.#headers.slice();
    if (this.#isJson && !headers.some((header) => header[0] === "content-type")) headers.push(JSON_TYPE[0]);
    const start = platform[callsKey];
    if (start === undefined) return this.#sendByFetch(where, headers);
    const outcome = await start({
      method,
      url: href,
      headers: headers.map((header): RawHeader => [header[0], encodeValue(header[1])]),
      body: this.#body,
      // 0 would mean the host's timeout, and NaN or a negative number is none.
      timeoutMs: Math.max(1, Math.min(this.#timeout, LONGEST_TIMEOUT_MS) | 0),
      maxBytes: Math.max(1, Math.min(this.#maxBytes, LARGEST_BODY)),
    });
    if ("reason" in outcome) throw callFailure(where, outcome, this.#timeout, this.#maxBytes);
    if (outcome.body.length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    return new HttpResponse(outcome);
  }

  /** Sends the request with the platform's `fetch`. */
  async #sendByFetch(where: string, headers: readonly (readonly [string, string])[]): Promise<HttpResponse> {
    const controller = platform.AbortController && new platform.AbortController();
    let timer: unknown;
    const timeout = new Promise<never>((_, reject) => {
      timer = platform.setTimeout(
        () => {
          reject(new HttpClientError("timeout", `${where}: no answer within ${this.#timeout} ms`));
          controller?.abort();
        },
        Math.min(this.#timeout, LONGEST_TIMEOUT_MS),
      );
    });
    try {
      return await Promise.race([this.#exchange(where, headers, controller?.signal), timeout]);
    } catch (thrown) {
      if (thrown instanceof HttpClientError) throw thrown;
      throw unanswered(where, networkErrorCode(thrown), thrown);
    } finally {
      platform.clearTimeout(timer);
    }
  }

  async #exchange(
    where: string,
    headers: readonly (readonly [string, string])[],
    signal: unknown,
  ): Promise<HttpResponse> {
    const explained: PlatformRequest["headers"] = [...headers, [EGRESS, "explain"]];
    const request: PlatformRequest = { method: this.#method, headers: explained, redirect: "manual" };
    if (this.#body !== undefined) request.body = this.#body;
    if (signal !== undefined) request.signal = signal;
    const response = await platform.fetch(this.#url, request);
    const received = [...response.headers];
    const why = new Headers(received).get(EGRESS);
    if (why !== undefined) throw unanswered(where, explainedCode(why));
    return new HttpResponse({
      status: response.status,
      headers: received,
      body: await readBody(response, this.#maxBytes),
    });
  }
}

/** Makes the error of a failed call. `where` is its method and its host. */
export function callFailure(
  where: string,
  { reason, detail }: { readonly reason: number; readonly detail: string },
  timeout: number = DEFAULT_TIMEOUT_MS,
  maxBytes: number = DEFAULT_MAX_BYTES,
): HttpClientError {
  const code = CALL_REASONS[reason] ?? "unreachable";
  if (code === "too_large") return tooLarge(maxBytes);
  if (code === "timeout") return new HttpClientError(code, `${where}: no answer within ${timeout} ms`);
  return new HttpClientError(code, code === "invalid" ? `${where}: ${detail}` : `${where}: ${REASONS[code]}`);
}

/** Codes for the cases of `reason` in `sdk:core/calls`, by their numbers. */
const CALL_REASONS: readonly HttpClientErrorCode[] = [
  "refused",
  "unreachable",
  "timeout",
  "too_large",
  "invalid",
  "unreachable",
];

const REASONS = { refused: "the host refused", unreachable: "the host is unreachable", timeout: "the host timed out" };

function unanswered(where: string, code: keyof typeof REASONS, cause?: unknown): HttpClientError {
  return new HttpClientError(code, `${where}: ${REASONS[code]}`, { cause });
}

/** Methods that `fetch` sends in upper case (Fetch standard, section 2.2.1). */
const NORMALIZED_METHOD = /^(?:DELETE|GET|HEAD|OPTIONS|POST|PUT)$/i;

/**
 * Methods that `fetch` refuses (Fetch standard, section 2.2.1). The component's engine would send them, or take them
 * for GET.
 */
const FORBIDDEN_METHOD = /^(?:CONNECT|TRACE|TRACK)$/i;

function methodOf(method: string): string {
  if (isToken(method) && !FORBIDDEN_METHOD.test(method)) {
    return NORMALIZED_METHOD.test(method) ? method.toUpperCase() : method;
  }
  throw new HttpClientError("invalid", "httpClient: expects a method such as GET; CONNECT and TRACE can't be sent");
}

function destinationOf(url: string): { readonly host: string; readonly href: string } {
  let parsed: InstanceType<typeof platform.URL> | undefined;
  try {
    parsed = new platform.URL(url);
  } catch {
    // Throws below, because the URL may hold a password and is not repeated.
  }
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new HttpClientError("invalid", "httpClient: expects an absolute http or https URL");
  }
  if (parsed.username + parsed.password !== "") {
    throw new HttpClientError("invalid", "httpClient: put user name and password in a header, not in the URL");
  }
  return { host: parsed.host, href: parsed.href.replace(/#.*$/, "") };
}

/**
 * Requests to sidecars and other hosts, over the runtime's outbound HTTP.
 *
 * @example
 * const answer = await httpClient.request().post("https://api.example/things").json({ name }).timeout(2_000).send();
 */
export const httpClient = {
  /** Fetches a URL: `(await httpClient.get(url)).text()`. @throws HttpClientError when there is no answer. */
  get(url: string): Promise<HttpResponse> {
    return new HttpRequest().get(url).send();
  },
  /** A request builder: `httpClient.request().post(url).json(value).send()`. */
  request(): HttpRequest {
    return new HttpRequest();
  },
} as const;

atRehearsal(async () => (await new HttpRequest().post("http://localhost/x").json({}).send()).json());
