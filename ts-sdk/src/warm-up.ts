import type { App } from "./app/app.ts";
import { routes } from "./app/routes.ts";
import type { RawRequest } from "./http/request.ts";
import { created, ok } from "./http/response.ts";
import { encodeUtf8 } from "./platform.ts";
import { get, post } from "./routing/method.ts";
import { field } from "./schema/field.ts";
import { list } from "./schema/list.ts";
import { Path } from "./schema/path.ts";
import { Query } from "./schema/query.ts";
import { Type } from "./schema/type.ts";

/**
 * Runs the way of a request, so that a snapshot taken afterwards holds its code compiled: the engine compiles a function
 * when it is first called, and without this every fresh instance would do so again. No handler of `app` is called, and
 * the host is not; call it at the top level of the entry, before the snapshot.
 */
export function warmUp(app: App): void {
  const ours = sample();
  for (let round = 0; round < 2; round++) {
    for (const request of REQUESTS) void ours.handle(request);
    // The user's own table, as far as it goes without a handler.
    for (const { paths } of app.operations) {
      for (const path of paths) void app.handle({ method: "OPTIONS", pathWithQuery: path, headers: [] });
    }
  }
}

const json: RawRequest["headers"] = [["content-type", encodeUtf8("application/json")]];

const REQUESTS: readonly RawRequest[] = [
  { method: "GET", pathWithQuery: "/", headers: [] },
  { method: "GET", pathWithQuery: "/a%20b/1?s=x+y&f=1.5&b=true&t=1&t=2", headers: [] },
  { method: "GET", pathWithQuery: "/a/x?s=", headers: [] },
  {
    method: "POST",
    pathWithQuery: "/",
    headers: json,
    body: encodeUtf8('{"s":"a@b.co","u":1,"n":{"e":"a"},"l":["b"]}'),
  },
  { method: "POST", pathWithQuery: "/", headers: json, body: encodeUtf8('{"s":1,"l":[1]}') },
  { method: "POST", pathWithQuery: "/", headers: [], body: encodeUtf8("{") },
  { method: "PUT", pathWithQuery: "/", headers: [] },
  { method: "GET", pathWithQuery: "/none/at/all", headers: [] },
];

/** An app that has each kind of input, field and answer once. */
function sample(): App {
  const path = Path("P", { a: field.string(), u: field.u32({ max: 9 }) });
  const query = Query("Q", {
    s: field.string({ min: 1, default: "s" }),
    f: field.f64().optional(),
    b: field.bool({ default: true }),
    t: list(field.u32()).optional(),
  });
  const body = Type("B", {
    s: field.string({ max: 20, format: "email" }),
    u: field.u32({ default: 1 }),
    n: Type("N", { e: field.enum("a") }).optional(),
    l: list(field.string()),
  });
  return routes({
    index: get("/", () => ok({})),
    read: get("/{a}/{u}", { path, query }, async (input) => ok(input)),
    write: post("/", { body, status: 201 }, (input) => created("/", input)),
  });
}
