/** `rateLimit`: bounds the requests of a client, counted in the sidecar `cache`. */

import { encodeHex } from "../encoding/hex.ts";
import type { Request } from "../http/request.ts";
import { error, withHeaders } from "../http/response.ts";
import { cache } from "../outbound/cache.ts";
import { SidecarError } from "../outbound/sidecar.ts";
import { encodeUtf8, platform } from "../platform.ts";
import { middleware } from "./middleware.ts";
import type { Middleware } from "./types.ts";

/** Options of {@link rateLimit}. */
export interface RateLimitOptions {
  /** The number of requests in any `window` seconds. */
  readonly limit: number;
  /** The length of the window in seconds. */
  readonly window: number;
  /**
   * Returns the client of a request, such as its user or its API key, of any length. Its address (`req.ip`) when left out.
   */
  readonly key?: (req: Request) => string | Promise<string>;
  /** The limit's name, in the cache and in the headers; `default` when left out. */
  readonly name?: string;
  /** Lets requests pass while the sidecar `cache` fails, instead of answering 500. */
  readonly passOnFailure?: boolean;
}

/**
 * Lets a client send `limit` requests in any `window` seconds, counted by the sidecar `cache` for all instances
 * together. Others are answered 429 with `Retry-After`. Answers carry `RateLimit-Policy` and `RateLimit` (IETF
 * draft-ietf-httpapi-ratelimit-headers). A refused request does not count.
 *
 * @example
 * routes({ … }, { use: [rateLimit({ limit: 100, window: 60 })] })
 * @throws TypeError for a limit or a window that is not a whole number from 1 on, and for a name that no header can
 *   carry.
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  const { limit, window, key = addressOf, name = "default", passOnFailure = false } = options;
  for (const number of [limit, window]) {
    if (!Number.isSafeInteger(number) || number < 1) {
      throw new TypeError("rateLimit: expects { limit, window }, whole numbers from 1 on");
    }
  }
  if (typeof key !== "function")
    throw new TypeError("rateLimit: expects key, a function of the request that names its client");
  if (!/^[\w.-]+$/.test(name)) throw new TypeError("rateLimit: a name must have only letters, digits, _, . and -");
  const policy = `"${name}";q=${limit};w=${window}`;
  return middleware(async (req, next) => {
    const client = await placeOf(`ratelimit:${name}:${await key(req)}`);
    let taken: Taken;
    try {
      taken = await take(client, limit, window);
    } catch (thrown) {
      if (passOnFailure && isFailure(thrown)) return next();
      throw thrown;
    }
    const { isAllowed, remaining, wait } = taken;
    const answer = isAllowed ? await next() : error(429, "too many requests").header("retry-after", String(wait));
    return withHeaders(answer, [
      ["ratelimit-policy", policy],
      ["ratelimit", `"${name}";r=${remaining};t=${wait}`],
    ]);
  });
}

/** Names that the cache takes as they are: it refuses long ones. */
const PLAIN = /^[ -~]{1,256}$/;

/** The place of a client in the cache: a digest for a long name, which no other client's name equals. */
async function placeOf(client: string): Promise<string> {
  if (PLAIN.test(client)) return client;
  const digest = await platform.crypto.subtle.digest("SHA-256", encodeUtf8(client));
  return `ratelimit:#${encodeHex(new Uint8Array(digest))}`;
}

/** Reports whether the cache failed. A request that it refuses as wrong is no failure of its, and must not pass. */
function isFailure(thrown: unknown): boolean {
  return thrown instanceof SidecarError && ![400, 413, 414, 431].includes(thrown.status ?? 0);
}

/** Without an address, all requests are one client's. */
function addressOf(req: Request): string {
  return req.ip ?? "";
}

/** The result of counting a request. */
interface Taken {
  readonly isAllowed: boolean;
  /** Requests that are left in the window. */
  readonly remaining: number;
  /** Seconds until the next request is allowed. */
  readonly wait: number;
}

/**
 * Counts a request. The sliding window is computed from two fixed ones: the requests of the previous window count in
 * proportion to its overlap with the last `window` seconds.
 */
async function take(client: string, limit: number, window: number): Promise<Taken> {
  const now = Date.now() / 1000;
  const index = Math.floor(now / window);
  const elapsed = now / window - index;
  const [last = 0, counted = 0] = await counts([`${client}:${index - 1}`, `${client}:${index}`]);
  const before = last * (1 - elapsed);
  // The requests that may come in this window. The cache compares, so that two at once can't both be the last one.
  const max = Math.floor(limit - before);
  let current = counted;
  let isAllowed = false;
  if (counted < max) {
    try {
      current = await cache.incr(`${client}:${index}`, { ttl: 2 * window, max });
      isAllowed = true;
    } catch (thrown) {
      if (!(thrown instanceof SidecarError) || thrown.status !== 409) throw thrown;
      current = max;
    }
  }
  const remaining = Math.max(0, Math.floor(limit - before - current));
  return { isAllowed, remaining, wait: Math.max(1, Math.ceil(window * untilOneMore(limit, last, current, elapsed))) };
}

async function counts(keys: readonly string[]): Promise<number[]> {
  return (await cache.getMany(keys)).map((entry) => (entry === undefined ? 0 : Number(entry.text())));
}

/** The fraction of a window until one more request is allowed. */
function untilOneMore(limit: number, last: number, current: number, elapsed: number): number {
  // In this window, when enough of the previous one has expired; else in the next one.
  if (current < limit) return last === 0 ? 0 : Math.max(0, 1 - (limit - 1 - current) / last - elapsed);
  return 1 - elapsed + Math.max(0, 1 - (limit - 1) / current);
}
