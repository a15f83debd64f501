import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { type JwtVariables, jwt } from "hono/jwt";

type Variables = JwtVariables<{ sub?: string; role?: string }> & { author: string };

/** Verifies the token. */
export const token = jwt({ secret: process.env["JWT"] ?? "", alg: "HS256", verification: { iss: "notes" } });

/** Adds the `author` to the context of handlers. */
export const named = createMiddleware<{ Variables: Variables }>(async (c, next) => {
  const { sub } = c.get("jwtPayload");
  if (sub === undefined) throw new HTTPException(403, { message: "the token names nobody" });
  c.set("author", sub);
  await next();
});

export const administrators = createMiddleware<{ Variables: Variables }>(async (c, next) => {
  if (c.get("jwtPayload").role !== "admin") throw new HTTPException(403, { message: "for administrators only" });
  await next();
});
