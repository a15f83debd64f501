/** Unimported parts are not in an app's bundle: only an app that uses a middleware or a kind of body contains it. */
import { expect, it } from "vitest";
import { bundle } from "./component/build.ts";

/** An app of one route, with the entry that `tenon build` makes. */
const app = (imported = "", definition = 'get("/", () => ok({}))', options = "{}") =>
  bundle(`import { get, ok, post, routes, warmUp, ${imported} } from "../../src/index.ts";
const app = routes({ index: ${definition} }, ${options});
warmUp(app);
export default app;`);
const within = (imported: string, call: string) => app(imported, undefined, `{ use: [${call}] }`);

/** A use of each part, and texts that only its source contains. */
const parts = {
  cors: { bundled: within("cors", 'cors({ origin: "*" })'), marks: ["access-control-allow-methods", "cors: expects"] },
  bearer: { bundled: within("bearer", "bearer(() => 1)"), marks: ["www-authenticate", "^bearer +("] },
  basicAuth: { bundled: within("basicAuth", "basicAuth(() => 1)"), marks: ["www-authenticate", "Basic realm="] },
  apiKey: {
    bundled: within("apiKey", 'apiKey({ header: "x" }, () => 1)'),
    marks: ["www-authenticate", "ApiKey header="],
  },
  jwt: {
    bundled: within("jwt", 'jwt({ key: "x", algorithms: ["HS256"] })'),
    marks: ["www-authenticate", "RSASSA-PKCS1-v1_5", "invalid_token", "^bearer +("],
  },
  signature: {
    bundled: within("signature", 'signature({ scheme: "github", secret: "x" })'),
    marks: ["x-hub-signature-256", "stripe-signature", "webhook-signature"],
  },
  etag: { bundled: within("etag", "etag()"), marks: ["content-location"] },
  secureHeaders: { bundled: within("secureHeaders", "secureHeaders()"), marks: ["x-permitted-cross-domain-policies"] },
  rateLimit: { bundled: within("rateLimit", "rateLimit({ limit: 1, window: 1 })"), marks: ["ratelimit-policy"] },
  Form: {
    bundled: app("Form", 'post("/", { body: Form("F", {}) }, () => ok({}))'),
    marks: ["multipart/form-data", "application/x-www-form-urlencoded"],
  },
  sse: { bundled: app("sse", 'get("/", () => sse(async function* () {}))'), marks: ["text/event-stream"] },
  secret: { bundled: app("secret", 'get("/", () => ok(secret("X").length))'), marks: ["there is no secret called"] },
  redirect: { bundled: app("redirect", 'get("/", () => redirect("/"))'), marks: ["is not a redirect status"] },
  group: { bundled: app("group", 'group("/x", {})'), marks: ["group: expects"] },
};
const marks = [...new Set(Object.values(parts).flatMap((part) => part.marks))];

it("an app of one route has none of them", async () => {
  const code = await app();
  expect(marks.filter((mark) => code.includes(mark))).toEqual([]);
});

it.each(Object.entries(parts))("an app with %s has that, and none of the others", async (_name, part) => {
  const code = await part.bundled;
  expect(marks.filter((mark) => code.includes(mark)).sort()).toEqual([...part.marks].sort());
});

it("an app that reads rows without db.page has nothing of the SQL builder", async () => {
  const reading = (call: string) => app("db", `get("/", async () => ok(await ${call}))`);
  expect(await reading('db.query(["SELECT 1", []])')).not.toContain("COUNT(*)");
  expect(await reading('db.page("users", { order: "id", limit: 1 })')).toContain("COUNT(*)");
});
