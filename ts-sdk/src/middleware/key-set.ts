/** Sets of keys at a URL, for `jwt`. */
import type { cache } from "../outbound/cache.ts";
import { httpClient } from "../outbound/http-client.ts";
import type { JsonWebKeySet } from "./jwt.ts";

/** The methods of the sidecar's client that cache a set of keys. */
export type KeySetCache = Pick<typeof cache, "get" | "set">;

/** The seconds that a set of keys is kept when its answer sets no time. */
const KEPT_SECONDS = 300;
/** The least time between two requests for a set of keys, in seconds, so that unknown key ids can't cause one each. */
const LEAST_SECONDS = 10;

/** A set of keys and its time, in seconds since 1970. */
interface Kept {
  readonly set: JsonWebKeySet;
  readonly at: number;
  readonly until: number;
}

/**
 * Reads a set of keys at a URL. It is kept for as long as its answer allows: in the instance, and in a cache if one is
 * given.
 */
export function remoteSet(url: string, cache?: KeySetCache): (anew: boolean) => Promise<JsonWebKeySet> {
  const name = `jwks:${url}`;
  let kept: Kept | undefined;
  return async (anew) => {
    const now = Date.now() / 1000;
    // A clock that was set back must not extend the time.
    const isFresh = ({ at, until }: Kept) => now >= at && now < (anew ? at + LEAST_SECONDS : until);
    if (kept && isFresh(kept)) return kept.set;
    const stored = cache && (await ask(cache.get(name)).then((entry) => parse(entry?.text())));
    if (stored && isFresh(stored)) {
      kept = stored;
      return stored.set;
    }
    const response = await httpClient.get(url);
    if (!response.ok) throw new Error(`jwt: the key set answered ${response.status}`);
    const set = response.json() as JsonWebKeySet;
    if (!isKeySet(set)) throw new Error("jwt: the answer of the key set's URL is not a set of keys");
    const seconds = freshSeconds(response.headers.get("cache-control"));
    kept = { set, at: now, until: now + seconds };
    if (cache && seconds > 0) await ask(cache.set(name, { json: kept }, { ttl: seconds }));
    return set;
  };
}

/**
 * Returns the cache's answer, or `undefined` when it fails, because the set is at its URL as well. @throws when there
 * is no cache
 */
async function ask<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === "missing") throw thrown;
    return undefined;
  }
}

function parse(text = ""): Kept | undefined {
  try {
    const kept = JSON.parse(text) as Kept;
    return isKeySet(kept.set) ? kept : undefined;
  } catch {
    return undefined;
  }
}

function freshSeconds(cacheControl = ""): number {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const age = /\bmax-age="?(\d{1,9})/i.exec(cacheControl)?.[1];
  return age === undefined ? KEPT_SECONDS : Number(age);
}

/** Reports whether a value is a set of keys (RFC 7517, section 5). */
export function isKeySet(set: unknown): set is JsonWebKeySet {
  const { keys } = Object(set) as { keys?: unknown };
  return Array.isArray(keys) && keys.every((key) => typeof Object(key).kty === "string");
}
