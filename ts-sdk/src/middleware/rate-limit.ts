import { cache } from "../client/cache.ts";
import { SidecarError } from "../client/sidecar.ts";
import type { Request } from "../http/request.ts";
import { error, withHeaders } from "../http/response.ts";
import { middleware } from "./middleware.ts";
import type { Middleware } from "./types.ts";

/** How many requests a client may send. */
export interface RateLimitOptions {
  /** Requests in any `window` seconds. */
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
  /** The client of a request, such as its user or its API key: up to 900 characters. Its address (`req.ip`) when left out. */
  readonly key?: (req: Request) => string | Promise<string>;
  /** Tells several limits apart, in the cache and in the headers; `default` when left out. */
  readonly name?: string;
  /** Lets requests pass while the sidecar `cache` does not answer, instead of failing with 500. */
  readonly passOnFailure?: boolean;
}

/**
 * Lets a client send `limit` requests in any `window` seconds, counted by the sidecar `cache` for all instances together.
 * Others are answered 429 with `Retry-After`. Answers carry `RateLimit-Policy` and `RateLimit` (the draft of the IETF,
 * draft-ietf-httpapi-ratelimit-headers). A request that is refused does not count.
 *
 * @example
 * routes({ … }, { use: [rateLimit({ limit: 100, window: 60 })] })
 * @throws TypeError for a limit or a window that is no whole number from 1 on, and for a name that no header can carry.
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  const { limit, window, key = addressOf, name = "default", passOnFailure = false } = options;
  for (const number of [limit, window]) {
    if (!Number.isSafeInteger(number) || number < 1) {
      throw new TypeError("rateLimit: takes { limit, window }, whole numbers from 1 on");
    }
  }
  if (typeof key !== "function")
    throw new TypeError("rateLimit: takes key, a function of the request that names its client");
  if (!/^[\w.-]+$/.test(name)) throw new TypeError("rateLimit: a name is letters, digits, _, . and -");
  const policy = `"${name}";q=${limit};w=${window}`;
  return middleware(async (req, next) => {
    const client = `ratelimit:${name}:${await key(req)}`;
    let taken: Taken;
    try {
      taken = await take(client, limit, window);
    } catch (thrown) {
      if (passOnFailure && thrown instanceof SidecarError) return next();
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

/** A server that does not tell the address has one client. */
function addressOf(req: Request): string {
  return req.ip ?? "";
}

/** What became of a request. */
interface Taken {
  readonly isAllowed: boolean;
  /** Requests that are left. */
  readonly remaining: number;
  /** Seconds until there are more. */
  readonly wait: number;
}

/**
 * Counts a request. A window that slides is that of two that do not: of the requests of the last one, the share counts that is
 * still within `window` seconds.
 */
async function take(client: string, limit: number, window: number): Promise<Taken> {
  const now = Date.now() / 1000;
  const index = Math.floor(now / window);
  const elapsed = now / window - index;
  const [last = 0, counted = 0] = await counts([`${client}:${index - 1}`, `${client}:${index}`]);
  const before = last * (1 - elapsed);
  // As many may come in this window; the cache counts, so that two at once are not both the last one.
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

/** The part of a window until there is place for one more request. */
function untilOneMore(limit: number, last: number, current: number, elapsed: number): number {
  // In this window, when enough of the last one has gone by; else in the next one, where this one is the last.
  if (current < limit) return last === 0 ? 0 : Math.max(0, 1 - (limit - 1 - current) / last - elapsed);
  return 1 - elapsed + Math.max(0, 1 - (limit - 1) / current);
}
