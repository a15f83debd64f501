// The shop that is recorded.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { replace } from "./server.mjs";

/**
 * The secrets themselves as credentials, in the place of signatures made with them: a request whose signature the handler checks is not
 * recorded (docs/replay.md, "Secrets").
 */
const auth = `import { bearer, error, guard, middleware, safeEqual, secret, use, type WithUser } from "@tenon/sdk";

const token = bearer((given) => (safeEqual(given, secret("JWT")) ? { role: "" } : undefined));

const customer = middleware((req, next, _context: WithUser<{ role: string }>) => {
  const sub = req.headers.get("x-customer") ?? undefined;
  guard(sub, 403, "the token names nobody");
  return next({ customer: sub });
});

const administrators = middleware((req, next) =>
  req.headers.get("x-role") === "admin" ? next() : error(403, "for administrators only"),
);

export const signedIn = use(token, customer);

export const admin = signedIn.use(administrators);
`;

/** Changes a copy of the shop so that all of its requests are recorded. */
export function unsigned(folder) {
  writeFileSync(join(folder, "src/auth.ts"), auth);
  const file = join(folder, "src/payments.ts");
  replace(file, 'use: [signature({ scheme: "stripe", secret: () => secret("STRIPE") })]', "use: [signed]");
  replace(file, "secret, signature, sqlUpdate", "error, middleware, safeEqual, secret, sqlUpdate");
  replace(
    file,
    "export const payments",
    `const signed = middleware((req, next) =>
  safeEqual(req.headers.get("stripe-signature") ?? "", secret("STRIPE")) ? next() : error(400, "the signature is wrong"),
);

export const payments`,
  );
}
