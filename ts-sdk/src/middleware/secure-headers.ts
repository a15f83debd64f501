import { checkHeader } from "../http/headers.ts";
import { withHeaders } from "../http/response.ts";
import { middleware } from "./middleware.ts";
import type { Middleware } from "./types.ts";

/** The defaults of Helmet and Hono that make sense for an API; an HTML page needs a policy of its own. */
const DEFAULTS = {
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

/** The security headers without a default. */
const OTHERS = [
  "clear-site-data",
  "content-security-policy-report-only",
  "cross-origin-embedder-policy",
  "cross-origin-embedder-policy-report-only",
  "cross-origin-opener-policy-report-only",
  "document-isolation-policy",
  "document-policy",
  "integrity-policy",
  "nel",
  "permissions-policy",
  "report-to",
  "reporting-endpoints",
  "x-download-options",
  "x-robots-tag",
  "x-xss-protection",
] as const;

/** A security header, by its lower-case name. */
export type SecureHeader = keyof typeof DEFAULTS | (typeof OTHERS)[number];

/** A header's name as a property of Hono's options: `xFrameOptions`. */
type Property<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Property<Rest>>}`
  : Name;

/**
 * Security headers, by their names or as Hono spells them: a value replaces the default or adds the header, `false` leaves it out,
 * and `true` is the default.
 */
export type SecureHeadersOptions = {
  readonly [Name in SecureHeader | Property<SecureHeader>]?: Name extends
    | keyof typeof DEFAULTS
    | Property<keyof typeof DEFAULTS>
    ? string | boolean
    : string | false;
};

/**
 * Adds security headers to answers that lack them: `secureHeaders({ "x-frame-options": "DENY" })`.
 *
 * @throws TypeError at definition, naming an unknown header, or one that can't be sent.
 * @example
 * routes({ … }, { use: [secureHeaders({ "x-frame-options": "DENY" })] })
 */
export function secureHeaders(options: SecureHeadersOptions = {}): Middleware {
  const headers = Object.entries<string | false>({ ...DEFAULTS, ...named(options) }).flatMap(([name, value]) =>
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

/** The options by the headers' names. They are checked, because a misspelt header would be missing silently. */
function named(options: SecureHeadersOptions): Record<string, string | false> {
  const known = [...Object.keys(DEFAULTS), ...OTHERS];
  const pairs = Object.entries<string | boolean | undefined>(options).flatMap(([given, value]) => {
    const name = (given.includes("-") ? given : given.replace(/(?!^)[A-Z]/g, "-$&")).toLowerCase();
    if (!known.includes(name)) {
      throw new TypeError(
        `secureHeaders: unknown "${given}", the nearest is "${nearest(name, known)}"; add other headers in a middleware`,
      );
    }
    if (value === undefined || (value === true && name in DEFAULTS)) return [];
    if (value !== true) return [[name, value]];
    throw new TypeError(`secureHeaders: "${given}" must have a value, because it has no default`);
  });
  return Object.fromEntries(pairs);
}

/** The text that shares the most pairs of letters with another, in proportion to its length. */
function nearest(text: string, among: readonly string[]): string | undefined {
  const lettersOf = (any: string) => any.replace(/[^a-z]/g, "");
  const own = lettersOf(text);
  const pairs = Array.from(own, (_, i) => own.slice(i, i + 2));
  const likeness = (other: string) => pairs.filter((pair) => other.includes(pair)).length / (own.length + other.length);
  return [...among].sort((a, b) => likeness(lettersOf(b)) - likeness(lettersOf(a)))[0];
}
