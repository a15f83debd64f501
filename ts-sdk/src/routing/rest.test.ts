import { describe, expect, it } from "vitest";
import { client } from "../client/index.ts";
import { field, get, ok, put, routes } from "../index.ts";
import { json } from "../openapi/index.ts";
import { testApp } from "../testing/index.ts";

const app = routes({
  file: get("/files/{path*}", { path: { path: field.string() } }, ({ path }) => ok({ file: path.path })),
  exact: get("/files/a/b", () => ok({ exact: true })),
  one: put("/files/a/{name}", { path: { name: field.string() } }, ({ path }) => ok({ one: path.name })),
  inner: get("/files/a/{name}/x/{rest*}", { path: { name: field.string(), rest: field.string() } }, ({ path }) =>
    ok(path),
  ),
  raw: get("/raw/{path*}", (_, req) => ok({ raw: req.path })),
});
const ask = async (path: string) => {
  const answer = await testApp(app).get(path);
  return answer.status === 200 ? answer.json() : answer.status;
};

describe("{name*}", () => {
  it("takes the rest of the path, at least one segment", async () => {
    expect(await ask("/files/x")).toEqual({ file: "x" });
    expect(await ask("/files/x/y/z")).toEqual({ file: "x/y/z" });
    expect(await ask("/files/x/")).toEqual({ file: "x/" });
    expect(await ask("/files")).toBe(404);
    expect(await ask("/files/")).toBe(404);
    expect(await ask("/raw/x/y")).toEqual({ raw: "/raw/x/y" });
  });

  it("gives way to literals and other placeholders, and takes what they do not", async () => {
    expect(await ask("/files/a/b")).toEqual({ exact: true });
    expect(await ask("/files/a/c")).toBe(405);
    expect(await ask("/files/a/c/d")).toEqual({ file: "a/c/d" });
    expect(await ask("/files/a/b/c")).toEqual({ file: "a/b/c" });
    expect(await ask("/files/a/n/x/y/z")).toEqual({ name: "n", rest: "y/z" });
    expect(await ask("/files/a/n/x")).toEqual({ file: "a/n/x" });
    expect(await ask("/files/a")).toEqual({ file: "a" });
  });

  it("decodes each segment once", async () => {
    expect(await ask("/files/a%20b/%2541")).toEqual({ file: "a b/%41" });
    const malformed = await testApp(app).get("/files/x/%zz/y");
    expect(malformed.json().errors).toMatchObject([{ in: "path", pointer: "#/path", code: "format" }]);
  });

  it("is one placeholder of the document", () => {
    const { paths } = JSON.parse(json(app, { name: "x" }));
    expect(paths["/files/{path}"].get.parameters).toMatchObject([{ name: "path", in: "path", required: true }]);
  });

  it("is encoded by the typed client, segment by segment", async () => {
    const api = client<typeof app>(testApp(app));
    expect(await api.file({ path: { path: "x y/ü/?#" } })).toMatchObject({ data: { file: "x y/ü/?#" } });
    await expect(api.file({ path: { path: "x/../y" } })).rejects.toThrow("path");
  });
});

it.each([
  ["/a/:id", 'has ":id": a placeholder must be written {id}'],
  ["/files/*", 'has "*": the rest of a path must be written {name*}'],
  ["/files/*rest", "the rest of a path must be written {name*}"],
  ["/files/{rest*}/x", "the rest of the path must be the last segment"],
])("refuses %s", (path, message) => {
  expect(() => routes({ a: get(path, () => ok({})) })).toThrow(message);
});

it("refuses two for the same requests", () => {
  const two = () => routes({ a: get("/{x*}", () => ok({})), b: get("/{y*}", () => ok({})) });
  expect(two).toThrow('two routes answer the same requests: a (GET "/{x*}") and b (GET "/{y*}")');
});
