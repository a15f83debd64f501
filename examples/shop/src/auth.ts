import { error, guard, jwt, middleware, secret, use, type WithClaims } from "@tenon/sdk";

const token = jwt({ key: () => secret("JWT"), algorithms: ["HS256"], issuer: "shop" });

const customer = middleware((_req, next, { claims }: WithClaims) => {
  guard(claims.sub, 403, "the token names nobody");
  return next({ customer: claims.sub });
});

const administrators = middleware((_req, next, { claims }: WithClaims) =>
  claims["role"] === "admin" ? next() : error(403, "for administrators only"),
);

/** Routes for anyone with a token; handlers get `customer` in their context. */
export const signedIn = use(token, customer);

/** Routes for administrators. */
export const admin = signedIn.use(administrators);
