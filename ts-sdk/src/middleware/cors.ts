/** `cors`: answers that pages of other origins may read (Fetch, section 3.3). */
import { isToken } from "../http/headers.ts";
import type { Request } from "../http/request.ts";
import { type Response, verbatimResponse, withHeaders } from "../http/response.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { middleware } from "./middleware.ts";
import { aroundPreflight } from "./preflight.ts";
import type { Middleware } from "./types.ts";

/** Options of {@link cors}. */
export interface CorsOptions {
  /**
   * The origins whose pages may read the answers: `"*"` for all, a list of origins such as `https://app.example`, or a
   * function: it allows an origin by `true` or by returning it, and refuses it with any other value.
   */
  readonly origin: "*" | readonly string[] | ((origin: string, req: Request) => Decision | Promise<Decision>);
  /** The methods that a preflight allows; every method of a route by default. */
  readonly methods?: readonly string[];
  /** The request headers that a preflight allows; the ones that it asks for by default. */
  readonly headers?: readonly string[];
  /** Further response headers that a script may read. */
  readonly expose?: readonly string[];
  /** Lets the browser send cookies. It can't be used with `"*"`. */
  readonly credentials?: boolean;
  /** Seconds that a browser caches the answer to a preflight. */
  readonly maxAge?: number;
}

/** The result of a function that decides about an origin. */
type Decision = boolean | string | null | undefined;

const OPTIONS = ["origin", "methods", "headers", "expose", "credentials", "maxAge"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** An origin as a browser serializes it (RFC 6454, section 6.2), or `null` for a page without one. */
const ORIGIN = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[^/?#@\sA-Z]+)$/;
const DEFAULT_PORT = /^http:.*:80$|^https:.*:443$/;

/**
 * Answers by the CORS protocol (Fetch standard, section 3.3): preflights with 204, and every other answer, errors too,
 * with the headers that let a page of an allowed origin read it. Put it into `routes(…, { use: [cors(…)] })`. In a group
 * or a kit it answers the preflights of its routes, so put it before middleware that asks for credentials; 404 and 405
 * have no headers then. Another origin gets none of these headers and is otherwise served: CORS protects browsers' users
 * and does not control access.
 *
 * @example
 * export default routes({ users }, { use: [cors({ origin: ["https://app.example"], credentials: true })] });
 * @throws TypeError at definition, for an origin that no browser sends, and for `credentials` with `"*"`.
 */
export function cors(options: CorsOptions): Middleware {
  check(options);
  const { origin, methods = METHODS, headers, expose = [], credentials = false, maxAge } = options;
  const isAllowed = async (given: string | undefined, req: Request): Promise<boolean> => {
    // All clients get the same answer, because a cache may hand it to a page after a client without an origin asked for
    // it.
    if (origin === "*") return true;
    if (given === undefined) return false;
    if (typeof origin !== "function") return origin.includes(given);
    // Functions written for other frameworks return an origin; one that differs from the request's does not allow it.
    const decision = await origin(given, req);
    return decision === true || decision === given;
  };
  const always: Pair[] = credentials ? [["access-control-allow-credentials", "true"]] : [];
  const exposed: Pair[] = expose.length > 0 ? [["access-control-expose-headers", expose.join(", ")]] : [];
  const age: Pair[] = maxAge === undefined ? [] : [["access-control-max-age", String(maxAge)]];
  const allow = (given = "*"): Pair => ["access-control-allow-origin", origin === "*" ? "*" : given];

  function preflight(given: string, req: Request): Response {
    const asked = headers?.join(", ") ?? req.headers.get("access-control-request-headers");
    const all = [
      allow(given),
      ["access-control-allow-methods", methods.join(", ")] as const,
      ...(asked ? [["access-control-allow-headers", asked] as const] : []),
      ...always,
      ...age,
    ];
    const answer = verbatimResponse("cors", 204, all, undefined, undefined);
    return headers === undefined ? vary(answer, "Access-Control-Request-Headers") : answer;
  }

  const run = middleware(async (req, next) => {
    const given = req.headers.get("origin");
    const allowed = await isAllowed(given, req);
    const isPreflight = req.method === "OPTIONS" && req.headers.has("access-control-request-method");
    let answer: Response;
    if (allowed && given !== undefined && isPreflight) answer = preflight(given, req);
    else {
      answer = await next();
      if (allowed) answer = withHeaders(answer, [allow(given), ...always, ...exposed]);
    }
    return origin === "*" ? answer : vary(answer, "Origin");
  });
  // Any page may read what "*" serves, but this does not make it the user's.
  const allows = origin === "*" ? undefined : isAllowed;
  return Object.freeze({ ...run, aroundPreflight, allows });
}

type Pair = readonly [name: string, value: string];

/** Adds a name to `Vary`, unless it or `*` is listed. */
function vary(answer: Response, name: string): Response {
  const given = answer.headers.flatMap(([key, value]) => (key === "vary" ? value.split(/[\t ]*,[\t ]*/) : []));
  if (given.some((each) => each === "*" || each.toLowerCase() === name.toLowerCase())) return answer;
  return withHeaders(answer, [["vary", [...given, name].join(", ")]]);
}

function check(options: CorsOptions): void {
  if (typeof options !== "object" || options === null) throw new TypeError("cors: expects { origin, … }");
  refuseUnknown("cors", options, OPTIONS);
  const { origin, credentials, maxAge, methods = [] } = options;
  for (const name of ["methods", "headers", "expose"] as const) {
    const given = options[name] ?? [];
    if (!Array.isArray(given) || !given.every(isToken)) throw new TypeError(`cors: "${name}" must be a list of names`);
  }
  const lower = methods.find((each) => each !== each.toUpperCase());
  if (lower !== undefined) {
    throw new TypeError(
      `cors: the method ${JSON.stringify(lower)} must be in upper case: browsers compare it as it is`,
    );
  }
  if (origin !== "*" && typeof origin !== "function" && !Array.isArray(origin)) {
    throw new TypeError('cors: "origin" must be "*", a list of origins, or a function');
  }
  for (const each of Array.isArray(origin) ? (origin as readonly string[]) : []) {
    if (ORIGIN.test(each) && !DEFAULT_PORT.test(each)) continue;
    throw new TypeError(
      `cors: ${JSON.stringify(each)} is not an origin as browsers send it: scheme and host in lower case, ` +
        "a port unless it is the scheme's own, and nothing behind it, as https://app.example",
    );
  }
  if (credentials && origin === "*") {
    throw new TypeError('cors: "credentials" can\'t be used with origin "*": browsers refuse it; list the origins');
  }
  if (maxAge !== undefined && !(Number.isSafeInteger(maxAge) && maxAge >= 0)) {
    throw new RangeError('cors: "maxAge" must be a whole number of seconds');
  }
}
