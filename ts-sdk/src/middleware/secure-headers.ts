import { checkHeader } from "../http/headers.ts";
import { withHeaders } from "../http/response.ts";
import { middleware } from "./middleware.ts";
import type { Middleware } from "./types.ts";

/**
 * Headers by their lower-case names: a value replaces the default, `false` leaves the header out, and other names are added.
 */
export type SecureHeadersOptions = Readonly<Record<string, string | false>>;

/** The defaults of Helmet and Hono that make sense for an API; an HTML page needs a policy of its own. */
const DEFAULTS: SecureHeadersOptions = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "origin-agent-cluster": "?1",
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=15552000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "x-dns-prefetch-control": "off",
  "x-frame-options": "SAMEORIGIN",
  "x-permitted-cross-domain-policies": "none",
};

/**
 * Adds security headers to answers that lack them: `secureHeaders({ "x-frame-options": "DENY" })`.
 *
 * @throws TypeError at definition, naming a header that can't be sent.
 */
export function secureHeaders(options: SecureHeadersOptions = {}): Middleware {
  const headers = Object.entries({ ...DEFAULTS, ...lowerCased(options) }).flatMap(([name, value]) =>
    value === false ? [] : [checkHeader(name, value)],
  );
  return middleware(async (_req, next) => {
    const answer = await next();
    return withHeaders(
      answer,
      headers.filter(([name]) => !answer.headers.some(([given]) => given === name)),
    );
  });
}

function lowerCased(options: SecureHeadersOptions): SecureHeadersOptions {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name.toLowerCase(), value]));
}
