import { describe, expect, it } from "vitest";
import {
  accepted,
  apiKey,
  basicAuth,
  bearer,
  created,
  del,
  field,
  get,
  group,
  jwt,
  list,
  noContent,
  ok,
  Path,
  post,
  put,
  Query,
  type Route,
  routes,
  Type,
  use,
} from "../index.ts";
import { openapi30 } from "./dialect-3.0.ts";
import { createDocument, type Document } from "./document.ts";
import { OpenApiError } from "./errors.ts";
import { json } from "./json.ts";
import { identifierOf, tagOf } from "./names.ts";

const manifest = { name: "@acme/my-shop", version: "1.2.3", description: "A shop." };
const document = (definitions: Record<string, Route>, of: object = manifest) =>
  JSON.parse(json(routes(definitions), of as typeof manifest)) as Document;
const anything = () => ok({}) as never;
const User = Type("User", { id: field.u32() });

it("has what package.json says, one server, and nobody to ask for permission", () => {
  const { openapi, info, servers, security } = document({});
  expect(openapi).toBe("3.0.0");
  expect(info).toEqual({ title: "@acme/my-shop", version: "1.2.3", description: "A shop." });
  expect(servers).toEqual([{ url: "/", description: expect.stringContaining("any WASI Preview 2 compliant runtime") }]);
  expect(security).toEqual([]);
  expect(document({}, { name: "x", private: true }).info).toEqual({ title: "x", version: "0.0.0" });
});

it("describes ProblemDetails as the specification does", () => {
  expect(document({}).components.schemas).toEqual({
    ProblemDetails: {
      type: "object",
      description: "RFC 7807 problem details",
      properties: {
        type: { type: "string", default: "about:blank" },
        title: { type: "string" },
        status: { type: "integer", minimum: 100, maximum: 599 },
        detail: { type: "string" },
        instance: { type: "string" },
      },
      required: ["type", "title", "status"],
    },
  });
});

it("has a path item for each path and alternative, with unique operation ids", () => {
  const { paths } = document({
    index: get(["/", ""], anything),
    find: get(["/b", "/a", "/c"], anything),
    find_2: post("/a", anything),
  });
  expect(Object.keys(paths)).toEqual(["/", "/a", "/b", "/c"]);
  expect(paths["/"]?.get?.operationId).toBe("acme_my_shop.index");
  expect(paths["/b"]?.get?.operationId).toBe("acme_my_shop.find");
  expect(paths["/a"]?.get?.operationId).toBe("acme_my_shop.find_3");
  expect(paths["/c"]?.get?.operationId).toBe("acme_my_shop.find_4");
  expect(Object.keys(paths["/a"] ?? {})).toEqual(["get", "post"]);
});

it("is the same whatever the order of declaration", () => {
  const one = { list: get("/users", { response: User }, anything), add: post("/users", { body: User }, anything) };
  const other = { z: get("/", { response: Type("A", {}) }, anything) };
  expect(json(routes({ ...one, ...other }), manifest)).toBe(
    json(routes({ ...other, add: one.add, list: one.list }), manifest),
  );
});

it("gives the success answer its status and description, and every operation both classes of errors", () => {
  const { paths } = document({
    a: get("/a", { response: list(User) }, anything),
    b: post("/b", { response: User, status: 201 }, () => created("/b", { id: 1 })),
    c: post("/c", { status: 202 }, () => accepted()),
    d: del("/d", { status: 204, deprecated: true }, () => noContent()),
    e: get("/e", { status: 303 }, anything),
  });
  const content = (schema: object) => ({ content: { "application/json": { schema } } });
  const ref = { $ref: "#/components/schemas/User" };
  expect(paths["/a"]?.get?.responses["200"]).toEqual({
    description: "Success",
    ...content({ type: "array", items: ref }),
  });
  expect(paths["/b"]?.post?.responses["201"]).toEqual({ description: "Created", ...content(ref) });
  expect(paths["/c"]?.post?.responses["202"]).toEqual({ description: "Accepted" });
  expect(paths["/d"]?.delete?.responses["204"]).toEqual({ description: "No Content" });
  expect(paths["/e"]?.get?.responses["303"]).toEqual({ description: "See Other" });
  expect(paths["/d"]?.delete?.deprecated).toBe(true);
  expect(paths["/a"]?.get).not.toHaveProperty("deprecated");
  const problem = { "application/problem+json": { schema: { $ref: "#/components/schemas/ProblemDetails" } } };
  for (const item of Object.values(paths)) {
    const { responses } = (item.get ?? item.post ?? item.delete) as { responses: object };
    expect(responses).toMatchObject({
      "4XX": { description: "Client Error", content: problem },
      "5XX": { description: "Server Error", content: problem },
    });
  }
});

it("lists placeholders, declared or not, and then the query's fields", () => {
  const query = Query("Q", {
    page: field.u32({ default: 1, max: 9 }),
    word: field.string({ docs: "To find" }),
    old: field.bool({ deprecated: true }).optional(),
    tags: list(field.string()),
  });
  const path = Path("P", { b: field.u32({ min: 1 }), a: field.string() });
  const { paths } = document({ x: get("/x/{a}/{b}", { path, query }, anything), raw: get("/raw/{any}", anything) });
  expect(paths["/x/{a}/{b}"]?.get?.parameters).toEqual([
    { name: "a", in: "path", required: true, schema: { type: "string" } },
    { name: "b", in: "path", required: true, schema: { type: "integer", minimum: 1, maximum: 4294967295 } },
    { name: "page", in: "query", required: false, schema: { type: "integer", minimum: 0, maximum: 9, default: 1 } },
    {
      name: "word",
      in: "query",
      required: true,
      description: "To find",
      schema: { type: "string", description: "To find" },
    },
    { name: "old", in: "query", required: false, deprecated: true, schema: { type: "boolean", deprecated: true } },
    { name: "tags", in: "query", required: true, schema: { type: "array", items: { type: "string" }, minItems: 1 } },
  ]);
  expect(paths["/raw/{any}"]?.get?.parameters).toEqual([
    { name: "any", in: "path", required: true, schema: { type: "string" } },
  ]);
});

it("says whether a body must be sent", () => {
  const { paths } = document({
    must: post("/must", { body: User }, anything),
    may: put("/may", { body: User.optional() }, anything),
  });
  expect(paths["/must"]?.post?.requestBody).toEqual({
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/User" } } },
  });
  expect(paths["/may"]?.put?.requestBody?.required).toBe(false);
});

it("has the body of any method", () => {
  const { paths } = document({
    drop: del("/a", { body: User, status: 204 }, () => noContent()),
    find: get("/a", { body: User }, anything),
  });
  const requestBody = {
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/User" } } },
  };
  expect(paths["/a"]?.delete?.requestBody).toEqual(requestBody);
  expect(paths["/a"]?.get?.requestBody).toEqual(requestBody);
});

it.each([
  ["/users/{id}", "Users"],
  ["/api/v1/users", "Users"],
  ["/v2.1/order-items/{id}", "Order Items"],
  ["/", "My Shop"],
  ["/{id}", "My Shop"],
  ["/api", "My Shop"],
  ["/%C3%A4pfel", "Äpfel"],
])("the tag of %s is %s", (path, tag) => expect(tagOf(path, "@acme/my-shop")).toBe(tag));

it("makes a package's name an identifier", () => {
  expect(["hello", "my-shop", "@acme/my-shop", "a.b"].map(identifierOf)).toEqual([
    "hello",
    "my_shop",
    "acme_my_shop",
    "a_b",
  ]);
});

it.each<[string, Record<string, Route>, RegExp]>([
  [
    "one path with two names for a placeholder",
    { one: get("/a/{x}", anything), two: del("/a/{y}", anything) },
    /^two \(DELETE \/a\/\{y\}\) and one \(GET \/a\/\{x\}\) are one path to OpenAPI/,
  ],
  [
    'both "" and "/"',
    { one: get("/", anything), two: get("", anything) },
    /^one and two both answer GET \/ in OpenAPI/,
  ],
])("refuses %s", (_what, definitions, message) => {
  expect(() => document(definitions)).toThrow(message);
});

it("refuses what is no app", () => {
  expect(() => json({} as never, manifest)).toThrow(TypeError);
});

it.each<[unknown, string]>([
  [undefined, 'json: the manifest has no "name"'],
  [null, 'json: the manifest has no "name"'],
  [{}, 'json: the manifest has no "name"'],
  [{ name: "" }, 'json: the manifest has no "name"'],
  [{ name: 5 }, 'json: the manifest: "name" is not a text but 5'],
  [{ name: "p", version: 1 }, 'json: the manifest: "version" is not a text but 1'],
  [{ name: "p", version: null }, 'json: the manifest: "version" is not a text but null'],
  [{ name: "p", description: ["a"] }, 'json: the manifest: "description" is not a text but ["a"]'],
])("refuses the manifest %j", (wrong, message) => {
  expect(() => json(routes({}), wrong as typeof manifest)).toThrow(new OpenApiError(message));
});

describe("groups and middleware", () => {
  const user = () => ({ name: "Ada" });
  const signedIn = use(bearer(user));
  const app = routes(
    {
      users: group("/users", {
        list: get("", () => ok({})),
        me: signedIn.get("/me", () => ok({})),
        both: signedIn.use(apiKey({ header: "X-Key" }, user)).get("/both", () => ok({})),
      }),
      basic: use(basicAuth(user)).get("/basic", () => ok({})),
      token: use(jwt({ key: "k", algorithms: ["HS256"] })).get("/token", () => ok({})),
    },
    { prefix: "/shop/v2" },
  );
  const made = createDocument(app, manifest, new Map([["users.list", { summary: "List users." }]]), openapi30);

  it("names operations behind their groups, and tags them by the path behind the app's prefix", () => {
    expect(made.paths["/shop/v2/users"]?.get).toMatchObject({
      operationId: `${identifierOf(manifest.name)}.users.list`,
      tags: ["Users"],
      summary: "List users.",
    });
  });

  it("says what clients have to present", () => {
    const of = (path: string) => made.paths[`/shop/v2${path}`]?.get?.security;
    expect([of("/users"), of("/users/me"), of("/users/both"), of("/basic"), of("/token")]).toEqual([
      undefined,
      [{ bearer: [] }],
      [{ bearer: [], "apiKey_x-key": [] }],
      [{ basic: [] }],
      [{ jwt: [] }],
    ]);
    expect(made.components.securitySchemes).toEqual({
      "apiKey_x-key": { type: "apiKey", in: "header", name: "X-Key" },
      basic: { type: "http", scheme: "basic" },
      bearer: { type: "http", scheme: "bearer" },
      jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    });
  });

  it("writes a key's header as the app does, and once whatever its case", () => {
    const by = (header: string) => use(apiKey({ header }, user));
    const app = routes({
      a: by("X-API-Key").get("/a", () => ok({})),
      b: by("x-api-key").get("/b", () => ok({})),
      c: by("X'Odd~Key").get("/c", () => ok({})),
    });
    const { paths, components } = createDocument(app, manifest, new Map(), openapi30);
    expect(paths["/b"]?.get?.security).toEqual(paths["/a"]?.get?.security);
    expect(components.securitySchemes).toEqual({
      "apiKey_x-api-key": { type: "apiKey", in: "header", name: "X-API-Key" },
      apiKey_x_odd_key: { type: "apiKey", in: "header", name: "X'Odd~Key" },
    });
  });

  it("of middleware around the app, too", () => {
    const all = routes({ a: get("/a", () => ok({})) }, { use: [bearer(user)] });
    expect(createDocument(all, manifest, new Map(), openapi30).paths["/a"]?.get?.security).toEqual([{ bearer: [] }]);
  });
});
