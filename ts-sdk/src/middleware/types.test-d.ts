/** Types of contexts that the compiler must infer, and uses that it must refuse. */
import type { expectTypeOf as expectTypeOfValue } from "vitest";
import {
  type App,
  error,
  field,
  get,
  group,
  type Kit,
  type Middleware,
  middleware,
  ok,
  Path,
  post,
  type Request,
  rateLimit,
  respond,
  routes,
  signJwt,
  Type,
  use,
} from "../index.ts";

declare const expectTypeOf: typeof expectTypeOfValue;

interface User {
  readonly name: string;
}
interface Tenant {
  readonly id: number;
}
declare const findUser: (token: string | undefined) => Promise<User | undefined>;

// Both type arguments are inferred: the added context from `next(…)`, the needed one from the parameter's type.

const plain = middleware((_req, next) => next());
expectTypeOf(plain).toEqualTypeOf<Middleware<Record<never, never>, Record<never, never>>>();
const headed = middleware(async (_req, next) => (await next()).header("x-a", "b"));
expectTypeOf(headed).toEqualTypeOf<Middleware<Record<never, never>, Record<never, never>>>();
const signedIn = middleware(async (req, next) => {
  const user = await findUser(req.headers.get("authorization"));
  if (user === undefined) return error(401, "sign in first");
  return next({ user });
});
expectTypeOf(signedIn).toEqualTypeOf<Middleware<{ user: User }, Record<never, never>>>();
const both = middleware(async (_req, next) => (await next({ tenant: { id: 1 } as Tenant })).header("x-a", "b"));
expectTypeOf(both).toEqualTypeOf<Middleware<{ tenant: Tenant }, Record<never, never>>>();
const ends = middleware(() => respond(204));
expectTypeOf(ends).toExtend<Middleware>();

// Or both are given.

const inTenant = middleware<{ tenant: Tenant }, { user: User }>((_req, next, { user }) =>
  next({ tenant: { id: user.name.length } }),
);
expectTypeOf(inTenant).toEqualTypeOf<Middleware<{ tenant: Tenant }, { user: User }>>();
const admin = middleware((_req, next, { user }: { user: User }) => (user.name === "root" ? next() : error(403, "no")));
expectTypeOf(admin).toEqualTypeOf<Middleware<Record<never, never>, { user: User }>>();
// @ts-expect-error the declared context is not handed on
middleware<{ tenant: Tenant }>((_req, next) => next());
// @ts-expect-error it is handed on with another type
middleware<{ tenant: Tenant }>((_req, next) => next({ tenant: { id: "1" } }));
// @ts-expect-error no answer
middleware(() => "text");
// @ts-expect-error no middleware declares a user
middleware((_req, next, { user }) => next({ user }));

// The context of a kit is the third argument of its handlers, merged.

const kit = use(signedIn, inTenant);
expectTypeOf(kit).toEqualTypeOf<Kit<{ user: User; tenant: Tenant }>>();
expectTypeOf(use(signedIn).use(inTenant, admin)).toEqualTypeOf<Kit<{ user: User; tenant: Tenant }>>();
kit.get("/me", (_input, _req, context) => {
  expectTypeOf(context).toEqualTypeOf<{ user: User; tenant: Tenant }>();
  return ok(context.user);
});
const Item = Type("Item", { name: field.string() });
const ItemId = Path("ItemId", { id: field.u32() });
kit.post("/items/{id}", { path: ItemId, body: Item, response: Item }, ({ path, body }, req, { user }) => {
  expectTypeOf(path.id).toEqualTypeOf<number>();
  expectTypeOf(req.method).toEqualTypeOf<string>();
  return ok({ name: body.name + user.name });
});
const replaced = use(
  signedIn,
  middleware((_req, next) => next({ user: 1 })),
);
expectTypeOf(replaced).toEqualTypeOf<Kit<{ user: number }>>();

// @ts-expect-error the kit's routes are checked as all are: the body does not match
kit.get("/items", { response: Item }, () => ok({ name: 1 }));
// @ts-expect-error the path has no {id}
kit.get("/items", { path: ItemId }, () => ok({}));
// @ts-expect-error no middleware gives a session
kit.get("/me", (_input, _req, { session }) => ok(session));
// @ts-expect-error no middleware gives anything
get("/me", (_input, _req, { user }) => ok(user));
// @ts-expect-error it needs a user, and stands first
use(inTenant);
// @ts-expect-error it needs a user, and stands before the middleware that adds one
use(inTenant, signedIn);
// @ts-expect-error it needs a user of another type
replaced.use(admin);
// @ts-expect-error a function is no middleware
use((_req: unknown, next: () => unknown) => next());
// @ts-expect-error it needs a context that the kit does not have
use(headed).use(admin);

// A kit, a group and the app add contexts of the right type only.

const asksText = (_input: object, _req: Request, { user }: { user: string }) => ok(user.length);
// @ts-expect-error the kit adds a user of another type
routes({ asks: kit.get("/asks", (_input, _req, { user }: { user: string }) => ok(user)) });
// @ts-expect-error an outer middleware does not matter, because the kit's replaces the user
routes({ asks: kit.get("/asks", asksText) }, { use: [middleware((_req, next) => next({ user: "text" }))] });
// @ts-expect-error the group adds a user of another type
routes({ all: group("/all", { asks: get("/asks", asksText) }, { use: [signedIn] }) });
// @ts-expect-error the group around it does
routes({ all: group("/all", { in: group("/in", { asks: get("", asksText) }) }, { use: [signedIn] }) });
// @ts-expect-error the app does
routes({ asks: get("/asks", asksText) }, { use: [signedIn] });
// @ts-expect-error the user is of another type, and no middleware adds a session
routes({ asks: kit.get("/asks", (_input, _req, context: { user: string; session: string }) => ok(context)) });
routes({ asks: kit.get("/asks", (_input, _req, { user }: { user: { name: unknown } }) => ok(user.name)) });
routes({ asks: kit.get("/asks", (_input, _req, { user }: { user?: User | undefined }) => ok(user)) });
// biome-ignore lint/suspicious/noExplicitAny: a middleware without types
declare const anyUser: Middleware<{ user: any }>;
routes({ asks: use(anyUser).get("/asks", asksText) });
const asksMore = (_input: object, _req: Request, context: { user: string; session: string }) => ok(context);
routes(
  { all: group("/all", { asks: get("", asksMore) }, { use: [anyUser] }) },
  { use: [middleware((_req, next) => next({ session: "s" }))] },
);

// Groups or the app add the context that a handler asks for.

const asks = get("/asks", (_input, _req, { user }: { user: User }) => ok(user));
routes({ asks }, { use: [signedIn] });
routes({ all: group("/all", { asks }, { use: [signedIn] }) });
routes({ all: group("/all", { in: group("/in", { asks }) }, { use: [signedIn] }) });
routes({ all: group("/all", { asks }) }, { prefix: "/api", use: [headed, signedIn] });
const asksBoth = kit.get("/both", (_input, _req, { user, session }: { user: User; session: string }) =>
  ok([user, session]),
);
const session = middleware((_req, next) => next({ session: "s" }));
routes({ asksBoth }, { use: [session] });

// @ts-expect-error no middleware adds a user
routes({ asks });
// @ts-expect-error no middleware adds a user
routes({ all: group("/all", { asks }) });
// @ts-expect-error not the needed context
routes({ asks, plain: get("/", () => ok({})) }, { use: [session] });
// @ts-expect-error the kit adds the user, and no middleware the session
routes({ asksBoth });
// @ts-expect-error a group's middleware gets its context from those before it
group("/all", { asks }, { use: [admin, signedIn] });
// @ts-expect-error an app's, too
routes({}, { use: [admin] });
// @ts-expect-error a group takes routes
group("/all", { asks: () => ok({}) });
// @ts-expect-error no such option
group("/all", {}, { uses: [] });
// @ts-expect-error no such option
routes({}, { perfix: "" });
routes({}, { onError: (thrown, req) => (thrown instanceof Error ? error(500, req.path) : undefined) });
// @ts-expect-error onError returns an answer or nothing
routes({}, { onError: () => "text" });

const app = routes({ asks, more: group("/more", { post: post("", () => ok({})) }) }, { use: [signedIn] });
expectTypeOf(app).toExtend<App>();

// Definitions of a general type are accepted.

declare const many: Record<string, ReturnType<typeof get>>;
routes(many);
routes({ ...many, more: get("/", () => ok({})) });

// Inline middleware needs no context that it does not name.

routes({ index: get("/", () => ok({})) }, { use: [middleware((req, next) => next({ client: req.ip }))] });
group("/all", { index: get("", () => ok({})) }, { use: [middleware((req, next) => next({ client: req.ip }))] });

// Middleware and functions with options of their own.

expectTypeOf(rateLimit({ limit: 100, window: 60, key: (req) => req.ip ?? "" })).toEqualTypeOf<Middleware>();
// @ts-expect-error a window is needed
rateLimit({ limit: 100 });
// @ts-expect-error the key is a text
rateLimit({ limit: 100, window: 60, key: () => 1 });
expectTypeOf(signJwt({ sub: "7" }, { key: "k", algorithm: "HS256", expiresIn: "15m" })).toEqualTypeOf<
  Promise<string>
>();
// @ts-expect-error no such algorithm
signJwt({}, { key: "k", algorithm: "none" });
// @ts-expect-error a key is needed
signJwt({}, { algorithm: "HS256" });
