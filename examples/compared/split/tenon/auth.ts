import { error, guard, jwt, middleware, secret, use, type WithClaims } from "@tenon/sdk";

const token = jwt({ key: () => secret("JWT"), algorithms: ["HS256"], issuer: "notes" });

const named = middleware((_req, next, { claims }: WithClaims) => {
  guard(claims.sub, 403, "the token names nobody");
  return next({ author: claims.sub });
});

const administrators = middleware((_req, next, { claims }: WithClaims) =>
  claims["role"] === "admin" ? next() : error(403, "for administrators only"),
);

/** Routes for anyone with a token; handlers get `author` in their context. */
export const signedIn = use(token, named);

/** Routes for administrators. */
export const administrator = signedIn.use(administrators);
