/** Types that section 11 of the contract promises, besides those of routes: errors, middleware, tokens, passwords and tests. */
import type { expectTypeOf as expectTypeOfValue } from "vitest";
import {
  ensure,
  error,
  field,
  get,
  group,
  guard,
  type JwtClaims,
  jwt,
  middleware,
  ok,
  Problem,
  respond,
  routes,
  signJwt,
  use,
} from "./index.ts";
import { hash, needsRehash, verify } from "./password/index.ts";
import { sqlite, testApp } from "./testing/index.ts";

declare const expectTypeOf: typeof expectTypeOfValue;
declare const found: { readonly id: number } | undefined;

// Extra members of problem details.
guard(found, 404, "no such user", { kind: "user" });
expectTypeOf(found).toEqualTypeOf<{ readonly id: number }>();
expectTypeOf(ensure(found as { id: number } | null, 404, "none", { kind: "user" })).toEqualTypeOf<{ id: number }>();
// @ts-expect-error the members are an object
guard(found, 404, "no such user", "user");
// @ts-expect-error the status is a number
ensure(found, "404", "no such user", { kind: "user" });

// Inputs that do not validate.
routes({}, { onInvalid: (problem, req) => respond(422, { body: `${problem.errors?.length} at ${req.path}` }) });
routes({}, { onInvalid: (problem) => (problem.errors?.[0]?.in === "header" ? error(428, problem.title) : undefined) });
// @ts-expect-error an answer, not a text
routes({}, { onInvalid: (problem) => problem.detail });
// @ts-expect-error problem details have no such member
routes({}, { onInvalid: (problem) => error(422, problem.message) });

// The part of middleware in the document.
const session = { session: { type: "apiKey", in: "cookie", name: "sid" } } as const;
middleware((_, next) => next({ me: 1 }), { openapi: { security: session, responses: { 402: Problem, 404: null } } });
// @ts-expect-error a scheme has a type
middleware((_, next) => next(), { openapi: { security: { session: { in: "cookie", name: "sid" } } } });
// @ts-expect-error an answer has a schema, or null
middleware((_, next) => next(), { openapi: { responses: { 402: "payment" } } });
// @ts-expect-error no such part
middleware((_, next) => next(), { openapi: { summary: "all of them" } });

// Tags.
group("/a", {}, { tags: ["Orders"] });
// @ts-expect-error tags are a list
group("/a", {}, { tags: "Orders" });

// Tokens.
const key = { key: "secret", algorithms: ["HS256"] } as const;
use(jwt(key)).get("/", (_, _req, { claims }) => {
  expectTypeOf(claims).toEqualTypeOf<JwtClaims>();
  return ok({});
});
use(jwt({ ...key, optional: true })).get("/", (_, _req, { claims }) => {
  expectTypeOf(claims).toEqualTypeOf<JwtClaims | undefined>();
  // @ts-expect-error there may be no token
  return ok({ sub: claims.sub });
});
expectTypeOf(signJwt({ sub: "7" }, { key: "secret", algorithm: "HS256", expiresIn: "15m" })).toEqualTypeOf<
  Promise<string>
>();
// @ts-expect-error the algorithm is not guessed
signJwt({ sub: "7" }, { key: "secret" });
// @ts-expect-error no such unit
signJwt({ sub: "7" }, { key: "secret", algorithm: "HS256", expiresIn: "2 fortnights" });
// @ts-expect-error no unsigned tokens
signJwt({ sub: "7" }, { key: "secret", algorithm: "none" });

// Passwords.
expectTypeOf(hash("pass", { algorithm: "argon2id" })).toEqualTypeOf<Promise<string>>();
expectTypeOf(verify("pass", "$scrypt$…")).toEqualTypeOf<Promise<boolean>>();
expectTypeOf(needsRehash("$scrypt$…")).toEqualTypeOf<boolean>();
// @ts-expect-error no such algorithm
hash("pass", { algorithm: "bcrypt" });
// @ts-expect-error a password is a text
verify(1234, "$scrypt$…");

// Sidecars of tests.
const app = routes({ a: get("/", { query: { q: field.string() } }, () => ok({})) });
testApp(app, {
  sidecars: {
    db: sqlite("migrations"),
    stripe: async (req) => Response.json({ at: req.url }),
    other: () => ok({ id: 1 }),
    running: "http://127.0.0.1:7001",
  },
});
// @ts-expect-error a sidecar answers with a response
testApp(app, { sidecars: { stripe: () => "charged" } });
// @ts-expect-error no such option
testApp(app, { sidecar: { db: sqlite("migrations") } });
