import { describe, expect, it } from "vitest";
import { appKey } from "../abi.ts";
import { del, field, get, list, noContent, ok, Path, post, Query, routes, Type } from "../index.ts";

const handler = () => ok({});
/** For definitions that the type checker would refuse. */
const anyHandler = handler as never;
const loose = (make: () => unknown) => make as () => never;
const One = Path("One", { id: field.u32() });
const Body = Type("Body", {});

describe("routes that can't be", () => {
  it.each([
    [
      "one shape twice",
      () => routes({ first: get("/a/{x}", handler), second: get("/a/{y}", handler) }),
      /two routes answer the same requests: first \(GET "\/a\/\{x\}"\) and second \(GET "\/a\/\{y\}"\)/,
    ],
    [
      "one path twice",
      () => routes({ a: get("/a", handler), b: get(["/b", "/a"], handler) }),
      /a \(GET "\/a"\) and b \(GET "\/a"\)/,
    ],
    [
      "one path twice, encoded",
      () => routes({ a: get("/é", handler), b: get("/%C3%A9", handler) }),
      /a \(GET .* and b \(GET/,
    ],
    ["one path twice in one route", () => routes({ a: get(["/", "/"], handler) }), /a \(GET "\/"\) and a \(GET "\/"\)/],
    [
      "a path without a slash",
      () => routes({ a: get("a", handler) }),
      /routes: "a": the path "a" must start with "\/"/,
    ],
    ["a query in the path", () => routes({ a: get("/a?b", handler) }), /"a": the path "\/a\?b" must have no "\?"/],
    ["half a placeholder", () => routes({ a: get("/a{b}", handler) }), /a placeholder must be a whole segment/],
    ["an open brace", () => routes({ a: get("/{b", handler) }), /a placeholder must be a whole segment/],
    ["a placeholder twice", () => routes({ a: get("/{b}/{b}", handler) }), /has \{b\} twice/],
    ["a malformed escape", () => routes({ a: get("/%zz", handler) }), /malformed percent-encoding/],
    [
      "a Path with another field",
      () => routes({ a: get("/{x}", { path: One } as never, anyHandler) }),
      /"a": the Path has no field for \{x\} of "\/\{x\}"/,
    ],
    [
      "a Path with one field more",
      () => routes({ a: get("/a", { path: One } as never, anyHandler) }),
      /"a": the path "\/a" has no \{id\}, which the Path declares/,
    ],
    ["no route", () => routes({ a: handler as never }), /"a" is not a route; use get/],
    ["no handler", () => get("/", undefined as never), /get\("\/"\): the last argument must be the handler/],
    ["no path", () => get([] as never, anyHandler), /no path is given/],
    [
      "an unknown option",
      () => get("/", { querry: 1 } as never, anyHandler),
      /unknown "querry" \(known: path, query, body, /,
    ],
    ["options that are none", () => get("/", null as never, anyHandler), /the options must be an object/],
    ["a Path as query", () => get("/", { query: One } as never, anyHandler), /"query" must be a Query/],
    ["a Type as path", () => get("/", { path: Body } as never, anyHandler), /"path" must be a Path/],
    [
      "a Query as body",
      () => post("/", { body: Query("Q", {}) } as never, anyHandler),
      /"body" must be a Type, a list or a Form/,
    ],
    ["no schema", () => post("/", { body: {} } as never, anyHandler), /"body" is not a schema/],
    [
      "an error status",
      () => post("/", { status: 404 } as never, anyHandler),
      /"status" must be the success status, 200 to 399, not 404/,
    ],
    [
      "a body for 204",
      () => post("/", { status: 204, response: Body } as never, anyHandler),
      /status 204 must have no body/,
    ],
    ["warm that is no boolean", () => post("/", { warm: "yes" } as never, anyHandler), /"warm" must be true or false/],
    [
      "deprecated that is no boolean",
      () => post("/", { deprecated: 1 } as never, anyHandler),
      /"deprecated" must be true or false/,
    ],
  ])("%s", (_what, make, message) => {
    expect(loose(make)).toThrow(message);
  });

  it("has no trouble with one shape in two methods", () => {
    expect(() => routes({ a: get("/{x}", handler), b: del("/{y}", { status: 204 }, () => noContent()) })).not.toThrow();
  });
});

describe("an app as data", () => {
  it("keeps its operations in order, with names, paths, options and statuses", () => {
    const app = routes({
      index: get(["/", ""], handler),
      create: post("/b", { body: Body, response: list(Body), status: 202, deprecated: true }, (() =>
        handler()) as never),
    });
    expect(app[appKey]).toBe(true);
    expect((app as unknown as Record<symbol, unknown>)[Symbol.for("tenon.app")]).toBe(true);
    expect(app.operations).toMatchObject([
      { name: "index", method: "GET", paths: ["/", ""], status: 200, deprecated: false, options: {} },
      { name: "create", method: "POST", paths: ["/b"], status: 202, deprecated: true, options: { body: Body } },
    ]);
  });
});
