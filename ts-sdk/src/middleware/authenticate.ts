import type { Request } from "../http/request.ts";
import { type ErrorResponse, error, withHeaders } from "../http/response.ts";
import { middleware } from "./middleware.ts";
import type { SecurityScheme } from "./security.ts";
import type { Middleware } from "./types.ts";

/** Returns the user of a request's credentials; `undefined`, null or false when there is none. */
type Identify<User> = (req: Request) => Promise<User | null | undefined>;

/** The result of a function that identifies a user. */
export type Identified<User> = User | null | undefined | Promise<User | null | undefined>;

/** The context of authenticating middleware. */
export interface WithUser<User> {
  user: User;
}

/** Makes a middleware that adds the user to the context, or answers 401 with a challenge. */
export function authenticate<User>(
  security: SecurityScheme,
  challenge: string,
  identify: Identify<User>,
): Middleware<WithUser<User>> {
  const run = middleware<WithUser<User>>(async (req, next) => {
    const user = await identify(req);
    // `safeEqual` returns false for wrong credentials.
    return user === undefined || user === null || user === false ? unauthorized(challenge) : next({ user });
  });
  return Object.freeze({ ...run, security });
}

/** 401 with the challenge that RFC 9110 (section 15.5.2) requires. */
export function unauthorized(challenge: string, detail = "The request lacks valid credentials."): ErrorResponse {
  return withHeaders(error(401, detail), [["www-authenticate", challenge]]);
}

/** @throws TypeError when `verify` is not a function. */
export function checkVerify(what: string, verify: unknown): void {
  if (typeof verify !== "function")
    throw new TypeError(`${what}: expects a function that returns the user, or undefined`);
}

/**
 * The credentials of an `Authorization` header of a scheme (RFC 9110, section 11.4); `undefined` unless there is
 * exactly one.
 */
export function credentials(req: Request, scheme: RegExp): string | undefined {
  const all = req.headers.getAll("authorization");
  return all.length === 1 ? scheme.exec(all[0] as string)?.[1] : undefined;
}
