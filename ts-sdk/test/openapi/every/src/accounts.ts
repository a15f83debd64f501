import {
  apiKey,
  basicAuth,
  bearer,
  Form,
  field,
  get,
  group,
  jwt,
  list,
  noContent,
  ok,
  post,
  put,
  safeEqual,
  Type,
  use,
} from "@tenon/sdk";

const Who = Type("Who", { name: field.string(), scheme: field.enum("bearer", "basic", "apiKey", "jwt") });
const SignIn = Form("SignIn", {
  name: field.string({ min: 1, max: 20, docs: "Account name" }),
  remember: field.bool().optional(),
  scopes: list(field.enum("read", "write"), { max: 2 }).optional(),
});
const Picture = Form("Picture", {
  title: field.string({ max: 20 }),
  picture: field.file({ max: 100_000, types: ["image/png", "image/jpeg"], docs: "A portrait" }),
  attachments: list(field.file({ max: 100_000 }), { max: 2 }).optional(),
});
const Stored = Type("Stored", { title: field.string(), bytes: field.u32(), attachments: field.u32() });

const ada = (given: string) => (safeEqual(given, "token-of-a-test") ? { name: "Ada" } : undefined);
const byToken = use(bearer(ada));
const byPassword = use(basicAuth((name, password) => (name === "ada" ? ada(password) : undefined)));
const byKey = use(apiKey({ header: "X-Api-Key" }, ada));
const byJwt = use(jwt({ key: "a key of 32 bytes, for tests only", algorithms: ["HS256"], audience: "every" }));

/** Routes that ask for credentials, and forms; a group in a group. */
export const accounts = group("/accounts", {
  /** Who presents a token. */
  tokenOwner: byToken.get("/token", { response: Who }, (_, _req, { user }) => ok({ ...user, scheme: "bearer" })),
  /** Who presents a password. */
  passwordOwner: byPassword.get("/password", { response: Who }, (_, _req, { user }) =>
    ok({ ...user, scheme: "basic" }),
  ),
  /** Who presents a key. */
  keyOwner: byKey.get("/key", { response: Who }, (_, _req, { user }) => ok({ ...user, scheme: "apiKey" })),
  /** Who presents a signed token. */
  jwtOwner: byJwt.get("/jwt", { response: Who }, (_, _req, { claims }) =>
    ok({ name: claims.sub ?? "nobody", scheme: "jwt" }),
  ),
  /** Sign in with a form. */
  signIn: post("/sessions", { body: SignIn, status: 204 }, ({ body }) => noContent().cookie("name", body.name)),
  /** The pictures of accounts; a token and a key are asked for. */
  pictures: group(
    "/pictures",
    {
      /** Whether a picture is there. */
      find: get("/{id}", { path: { id: field.u32({ min: 1 }) }, status: 204 }, () => noContent()),
      /** Put a picture in its place. */
      replace: put(
        "/{id}",
        { path: { id: field.u32({ min: 1 }) }, body: Picture, response: Stored },
        ({ body: { title, picture, attachments = [] } }) =>
          ok({ title, bytes: picture.bytes.length, attachments: attachments.length }),
      ),
    },
    { use: [bearer(ada), apiKey({ header: "X-Api-Key" }, ada)] },
  ),
});
