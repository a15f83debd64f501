/** Hostile arguments of tools: none reaches more than the caller's own HTTP requests do. */
import { describe, expect, it } from "vitest";
import { hostileValues } from "../../test/hostile-values.ts";
import { bearer, del, field, get, group, ok, post, routes, secret, use } from "../index.ts";
import { testApp } from "../testing/index.ts";

const SECRET = "s3cr3t-of-the-module";

/** The requests that reached a handler. */
interface Seen {
  readonly route: string;
  readonly path: string;
  readonly query: string;
  readonly user: string;
  readonly headers: Readonly<Record<string, string>>;
}
let seen: Seen[] = [];

const signedIn = use(
  bearer(async (token) => ({ "token-of-ada": { name: "ada" }, "token-of-root": { name: "root" } })[token]),
);
const note = (route: string) =>
  ((
    _: unknown,
    req: { path: string; query: string; headers: Iterable<readonly [string, string]> },
    { user }: { user: { name: string } },
  ) => {
    seen.push({ route, path: req.path, query: req.query, user: user.name, headers: Object.fromEntries(req.headers) });
    void secret("KEY");
    return ok({ route });
  }) as never;

const app = testApp(
  routes(
    {
      files: group("/files", {
        find: signedIn.get("/{id}", { path: { id: field.string() } }, note("find")),
        tree: signedIn.get("/tree/{rest*}", { path: { rest: field.string() } }, note("tree")),
        search: signedIn.get(
          "",
          { query: { q: field.string().optional() }, headers: { "x-trace": field.string().optional() } },
          note("search"),
        ),
        add: signedIn.post(
          "/{id}",
          { path: { id: field.string() }, body: { name: field.string(), size: field.u32() } },
          note("add"),
        ),
        // No tools.
        admin: signedIn.get("/admin", note("admin")),
        purge: signedIn.post("/purge", note("purge")),
      }),
      wipe: del("/files/{id}", { path: { id: field.string() } }, note("wipe")),
      env: get("/env", () => ok({ key: secret("KEY") })),
      any: post("/{tenant}", { path: { tenant: field.string() } }, note("any")),
    },
    { mcp: { include: ["files.find", "files.tree", "files.search", "files.add"] } },
  ),
  { secrets: { KEY: SECRET } },
);

async function call(name: string, args: unknown) {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  // Written by hand, because a literal `__proto__` in JavaScript is no member.
  const body = JSON.stringify(message)
    .replaceAll("\\u005f\\u005fproto__", "__proto__")
    .replaceAll("@proto@", "__proto__");
  const headers = { authorization: "Bearer token-of-ada", "x-tenant": "ada", "content-type": "application/json" };
  return app.post("/mcp", { headers, body });
}

const names = [
  "authorization",
  "Authorization",
  "cookie",
  "host",
  "x-tenant",
  "@proto@",
  "constructor",
  "path",
  "query",
  "headers",
  "body",
  "method",
  "url",
  "files.admin",
];

/** 200 calls and more: each text and value as each argument, and arguments of each hostile name. */
const attacks: (readonly [tool: string, args: unknown])[] = [
  ...hostileValues.flatMap((value) => [
    ["files.find", { id: value }] as const,
    ["files.tree", { rest: value }] as const,
    ["files.search", { q: value }] as const,
    ["files.search", { "x-trace": value }] as const,
    ["files.add", { id: value, name: value, size: value }] as const,
  ]),
  ...names.flatMap((name) => [
    ["files.find", { id: "a", [name]: "Bearer token-of-root" }] as const,
    ["files.search", { [name]: { admin: true } }] as const,
  ]),
  ...["files.admin", "files.purge", "wipe", "env", "any", "__proto__", "constructor", "toString", ""].map(
    (tool) => [tool, {}] as const,
  ),
  ...[7, [], "id=admin"].map((args) => ["files.find", args] as const),
];

describe("hostile arguments", () => {
  it("are more than 200", () => {
    expect(attacks.length).toBeGreaterThan(200);
  });

  it("reach only the tool's route, as the caller, with the caller's headers", async () => {
    for (const [tool, args] of attacks) {
      seen = [];
      const answer = await call(tool, args);
      expect([200, 400]).toContain(answer.status);
      const text = answer.text();
      expect(text, JSON.stringify(args)).not.toContain(SECRET);
      const message = answer.json() as { result?: { isError?: boolean }; error?: { code: number } };
      expect(message.result ?? message.error).toBeDefined();
      for (const { route, path, user, headers } of seen) {
        expect(`files.${route}`, JSON.stringify(args)).toBe(tool);
        expect(user).toBe("ada");
        expect(path.startsWith("/files")).toBe(true);
        expect(path).not.toMatch(/[?#\s]/);
        expect(headers["authorization"]).toBe("Bearer token-of-ada");
        expect(headers["x-tenant"]).toBe("ada");
        const declared = ["authorization", "x-tenant", "accept", "content-type", "x-trace"];
        expect(Object.keys(headers).filter((name) => !declared.includes(name))).toEqual([]);
      }
    }
    expect(({} as Record<string, unknown>)["id"]).toBeUndefined();
  });

  it("would reach another route if the path alone decided", async () => {
    seen = [];
    await app.get("/files/admin", { headers: { authorization: "Bearer token-of-ada" } });
    expect(seen.map(({ route }) => route)).toEqual(["admin"]);
    seen = [];
    await call("files.find", { id: "admin" });
    expect(seen).toEqual([]);
  });
});
