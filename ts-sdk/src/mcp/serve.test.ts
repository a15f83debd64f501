import { describe, expect, it } from "vitest";
import {
  bearer,
  cors,
  created,
  del,
  Form,
  field,
  get,
  group,
  guard,
  jwt,
  list,
  noContent,
  octetStream,
  ok,
  Path,
  post,
  put,
  Query,
  respond,
  routes,
  sse,
  Type,
  use,
} from "../index.ts";
import { testApp } from "../testing/index.ts";

const User = Type("User", { id: field.u32(), name: field.string({ docs: "Display name" }) });
const Page = Query("Page", { page: field.u32({ default: 1 }), limit: field.u32({ default: 10, max: 100 }) });
const signedIn = use(bearer(async (token) => (token === "let-me-in" ? { name: "Ada" } : undefined)));

let ended = 0;

const app = routes(
  {
    listUsers: get("/users", { query: Page, response: list(User) }, ({ query }) =>
      ok([{ id: query.page, name: `limit ${query.limit}` }]),
    ),
    getUser: get("/users/{id}", { path: Path("UserId", { id: field.u32() }), response: User }, ({ path }) => {
      guard(path.id < 100, 404, "no such user");
      return ok({ id: path.id, name: "Ada" });
    }),
    me: signedIn.get("/users/me", { response: User }, (_, _req, { user }) => ok({ id: 1, name: user.name })),
    createUser: post("/users", { body: { name: field.string({ max: 5 }) }, response: User, status: 201 }, ({ body }) =>
      created("/users/1", { id: 1, name: body.name }),
    ),
    items: group(
      "/items/{id}",
      {
        replace: put(
          "",
          {
            path: { id: field.string() } as never,
            query: { id: field.string().optional() },
            headers: { "idempotency-key": field.string().optional(), authorization: field.string().optional() },
            body: { id: field.u32(), note: field.string().optional() },
          },
          ({ path, query, headers, body }) => ok({ path, query, headers, body }),
        ),
        remove: del("", { path: { id: field.string() } as never, status: 204 }, () => noContent()),
      },
      { path: { id: field.string() } },
    ),
    files: get("/files/{path*}", { path: { path: field.string() } }, ({ path }) => ok({ path: path.path })),
    tags: post("/tags", { body: list(field.string()) }, ({ body }) => ok({ body })),
    profile: post(
      "/profile",
      { body: Form("Profile", { name: field.string(), picture: field.file({ max: 100 }).optional() }) },
      ({ body }) =>
        ok({ name: body.name, picture: body.picture && { ...body.picture, bytes: body.picture.bytes.length } }),
    ),
    upload: post("/upload", { body: octetStream() }, async ({ body }) => {
      let size = 0;
      for await (const piece of body) size += piece.length;
      return ok({ size });
    }),
    picture: get("/picture", () =>
      respond(200, { headers: { "content-type": "image/png" }, body: new Uint8Array([1, 2]) }),
    ),
    blob: get("/blob", () =>
      respond(200, { headers: { "content-type": "application/zip" }, body: new Uint8Array([1]) }),
    ),
    text: get("/text", () => respond(200, { body: "hello" })),
    ticks: get("/ticks", () =>
      sse(async function* () {
        for (let n = 1; n <= 3; n++) yield { data: `tick ${n}` };
      }),
    ),
    breaks: get("/breaks", () =>
      sse(async function* () {
        yield { data: "one" };
        throw new Error("a secret of the stream");
      }),
    ),
    endless: get("/endless", () =>
      sse(async function* () {
        try {
          for (;;) yield { data: "x".repeat(300_000) };
        } finally {
          ended++;
        }
      }),
    ),
    headers: get("/headers", (_, req) => ok(Object.fromEntries(req.headers))),
    broken: get("/broken", () => {
      throw new Error("a secret of the handler");
    }),
  },
  { mcp: {} },
);

interface Rpc {
  readonly id?: unknown;
  readonly result?: Record<string, unknown> & {
    readonly tools?: readonly Record<string, never>[];
    readonly content?: readonly { readonly type: string; readonly text?: string }[];
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
    readonly nextCursor?: string;
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const asked = testApp(app);

async function send(json: unknown, headers: Record<string, string> = {}, to = asked) {
  const answer = await to.post("/mcp", { headers, json });
  return { answer, status: answer.status, body: answer.status === 202 ? undefined : ((await answer.json()) as Rpc) };
}

async function call(name: string, args: unknown, headers: Record<string, string> = {}): Promise<Rpc> {
  const { body } = await send(
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    headers,
  );
  return body as Rpc;
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function modern(method: string, params: object = {}, headers: Record<string, string> = {}) {
  const { name } = params as { name?: string };
  return send(
    { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: META } },
    {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": name }),
      ...headers,
    },
  );
}

describe("the protocol", () => {
  it("initializes without a session, in the client's revision or the newest one", async () => {
    const initialize = async (protocolVersion: string) => {
      const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
      return (await send({ jsonrpc: "2.0", id: "a", method: "initialize", params })).body;
    };
    expect(await initialize("2025-06-18")).toMatchObject({
      jsonrpc: "2.0",
      id: "a",
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: expect.any(String) } },
    });
    expect((await initialize("2020-01-01"))?.result?.["protocolVersion"]).toBe("2025-11-25");
  });

  it("answers ping, accepts notifications and refuses other methods", async () => {
    expect((await send({ jsonrpc: "2.0", id: 1, method: "ping" })).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect((await send({ jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
    expect((await send({ jsonrpc: "2.0", id: 1, method: "resources/list" })).body?.error?.code).toBe(-32601);
    for (const method of ["get", "delete"] as const) {
      const answer = await asked[method]("/mcp");
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    }
  });

  it("serves the stateless revision", async () => {
    expect((await modern("server/discover")).body?.result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      ttlMs: 300_000,
      cacheScope: "public",
    });
    const listed = await modern("tools/list");
    expect(listed.body?.result).toMatchObject({ resultType: "complete", cacheScope: "public" });
    const { body } = await modern("tools/call", { name: "listUsers", arguments: { page: 3 } });
    expect(body?.result).toMatchObject({
      resultType: "complete",
      structuredContent: [{ id: 3, name: "limit 10" }],
      content: [{ type: "text", text: '[{"id":3,"name":"limit 10"}]' }],
    });
    expect(await modern("ping")).toMatchObject({ status: 404, body: { error: { code: -32601 } } });
  });

  it("compares the headers of the stateless revision with the body", async () => {
    const mismatch = { status: 400, body: { id: 7, error: { code: -32020 } } };
    expect(await modern("tools/list", {}, { "mcp-method": "tools/call" })).toMatchObject(mismatch);
    expect(await modern("tools/list", {}, { "mcp-protocol-version": "2025-11-25" })).toMatchObject(mismatch);
    const named = { name: "text", arguments: {} };
    expect(await modern("tools/call", named, { "mcp-name": "broken" })).toMatchObject(mismatch);
    expect(await modern("tools/call", named, { "mcp-name": `=?base64?${btoa("text")}?=` })).toMatchObject({
      status: 200,
    });
    const message = { jsonrpc: "2.0", id: 7, method: "tools/list", params: { _meta: META } };
    expect(await send(message)).toMatchObject(mismatch);
    expect(await send({ ...message, params: {} }, { "mcp-protocol-version": "2026-07-28" })).toMatchObject({
      status: 400,
      body: { error: { code: -32602 } },
    });
  });

  it("refuses revisions that it does not know", async () => {
    const data = { requested: "1900-01-01", supported: expect.arrayContaining(["2026-07-28", "2025-11-25"]) };
    expect(
      await send({ jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-protocol-version": "1900-01-01" }),
    ).toMatchObject({ status: 400, body: { id: 1, error: { code: -32022, data } } });
  });

  it("refuses malformed messages by their codes", async () => {
    const text = async (body: string, headers = {}) => {
      const answer = await asked.post("/mcp", { body, headers });
      return [answer.status, ((await answer.json()) as Rpc).error?.code];
    };
    expect(await text("{")).toEqual([400, -32700]);
    expect(await text("")).toEqual([400, -32700]);
    expect(await text("3")).toEqual([400, -32600]);
    expect(await text('{"jsonrpc":"1.0","id":1,"method":"ping"}')).toEqual([400, -32600]);
    expect(await text('{"jsonrpc":"2.0","id":null,"method":"ping"}')).toEqual([400, -32600]);
    expect(await text('{"jsonrpc":"2.0","id":1.5,"method":"ping"}')).toEqual([400, -32600]);
    expect(await text('{"jsonrpc":"2.0","id":1,"method":1}')).toEqual([400, -32600]);
    expect(await text('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}')).toEqual([400, -32602]);
    expect(
      await text(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(70)}${"]".repeat(70)}}}`),
    ).toEqual([400, -32600]);
    expect(await text(`"${"a".repeat(4 << 20)}"`)).toEqual([413, -32600]);
    expect(await text('{"jsonrpc":"2.0","id":1,"method":"ping"}', { "content-type": "text/plain" })).toEqual([
      415, -32600,
    ]);
    expect(await text('{"jsonrpc":"2.0","id":1,"method":"ping"}', { accept: "text/html" })).toEqual([406, -32600]);
  });

  it("answers batches in the revision that has them", async () => {
    const all = [
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "getUser", arguments: { id: 5 } } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "no/such" },
      7,
    ];
    const { body, status } = await send(all);
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { id: 1, result: { structuredContent: { id: 5, name: "Ada" } } },
      { id: 2, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
    ]);
    expect((await send(all, { "mcp-protocol-version": "2025-06-18" })).status).toBe(400);
    expect((await send([])).status).toBe(400);
    expect((await send(Array(21).fill(all[0]))).status).toBe(400);
    expect((await send([all[1]])).status).toBe(202);
  });

  it("answers with events where nothing else is accepted", async () => {
    const answer = await asked.post("/mcp", {
      headers: { accept: "text/event-stream" },
      json: { jsonrpc: "2.0", id: 1, method: "ping" },
    });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    await answer.read();
    expect(answer.text()).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
  });

  it("acknowledges a subscription and ends it, because tools never change", async () => {
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
    const params = { notifications: { toolsListChanged: true }, _meta: META };
    const json = { jsonrpc: "2.0", id: 9, method: "subscriptions/listen", params };
    const answer = await asked.post("/mcp", { headers, json });
    await answer.read();
    const text = answer.text();
    expect(text).toContain('"method":"notifications/subscriptions/acknowledged"');
    expect(text).toContain('"id":9,"result":{"resultType":"complete"');
  });
});

describe("the origin", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const status = async (origin: string, host: string, to = asked) => (await send(ping, { origin, host }, to)).status;

  it("is refused unless it is the server's own", async () => {
    expect(await status("http://localhost:6274", "127.0.0.1:3000")).toBe(200);
    expect(await status("https://shop.example", "shop.example")).toBe(200);
    expect(await status("http://192.168.1.5:3000", "192.168.1.5:3000")).toBe(200);
    expect(await status("http://evil.example", "evil.example")).toBe(403);
    expect(await status("http://evil.example", "localhost:3000")).toBe(403);
    expect(await status("http://localhost", "shop.example")).toBe(403);
    expect(await status("https://evil.example", "shop.example")).toBe(403);
    expect(await status("https://shop.example:444", "shop.example")).toBe(403);
    expect(await status("http://localhost.evil.example", "localhost")).toBe(403);
    expect(await status("null", "localhost")).toBe(403);
    expect((await send(ping, { host: "shop.example" })).status).toBe(200);
  });

  it("is allowed where cors lists it", async () => {
    const made = (origin: "*" | string[]) =>
      testApp(routes({ a: get("/", () => ok({})) }, { mcp: {}, use: [cors({ origin })] }));
    expect(await status("https://app.example", "shop.example", made(["https://app.example"]))).toBe(200);
    expect(await status("https://app.example", "shop.example", made("*"))).toBe(403);
    const extension = "chrome-extension://abcdefghijklmnop";
    expect(await status(extension, "shop.example", made([extension]))).toBe(200);
    expect(await status(extension, "localhost:3000")).toBe(403);
    expect(await status("null", "shop.example", made(["null"]))).toBe(403);
  });
});

describe("tools", () => {
  const tools = async () => {
    const { body } = await send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    return new Map(body?.result?.tools?.map((tool) => [String(tool["name"]), tool as Record<string, unknown>]));
  };

  it("come from the routes", async () => {
    const all = await tools();
    expect(all.get("getUser")).toEqual({
      name: "getUser",
      title: "Get user",
      description: "GET /users/{id}",
      inputSchema: {
        type: "object",
        properties: { id: { type: "integer", minimum: 0, maximum: 4_294_967_295 } },
        required: ["id"],
        additionalProperties: false,
      },
      outputSchema: {
        type: "object",
        properties: {
          id: { type: "integer", minimum: 0, maximum: 4_294_967_295 },
          name: { type: "string", description: "Display name" },
        },
        required: ["id", "name"],
      },
      annotations: { readOnlyHint: true },
    });
    expect(all.get("items_remove")?.["annotations"]).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
    });
    expect(all.get("createUser")?.["annotations"]).toEqual({
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
    });
    // A list is no object, as revisions before the current one want it.
    expect(all.get("listUsers")).not.toHaveProperty("outputSchema");
    const current = (await modern("tools/list")).body?.result?.tools?.find((tool) => tool["name"] === "listUsers");
    expect(current).toMatchObject({ outputSchema: { type: "array" } });
  });

  it("have names of their own for inputs that share one, and none for credentials", async () => {
    const { inputSchema } = (await tools()).get("items_replace") as {
      inputSchema: { properties: object; required: unknown };
    };
    expect(Object.keys(inputSchema.properties)).toEqual(["path_id", "query_id", "idempotency-key", "body_id", "note"]);
    expect(inputSchema.required).toEqual(["path_id", "body_id"]);
    const args = { path_id: "a/b c", query_id: "q&r", "idempotency-key": "k", body_id: 3 };
    expect((await call("items.replace", args, { authorization: "Bearer mine" })).result?.structuredContent).toEqual({
      path: { id: "a/b c" },
      query: { id: "q&r" },
      headers: { "idempotency-key": "k", authorization: "Bearer mine" },
      body: { id: 3 },
    });
  });

  it("are chosen by include", async () => {
    const definitions = {
      users: group("/users", {
        list: get("", () => ok({})),
        one: get("/{id}", () => ok({})),
      }),
      other: get("/other", () => ok({})),
    };
    const names = async (include: readonly string[] | ((route: { method: string; path: string }) => boolean)) => {
      const to = testApp(routes(definitions, { mcp: { include } }));
      const { body } = await send({ jsonrpc: "2.0", id: 1, method: "tools/list" }, {}, to);
      return body?.result?.tools?.map((tool) => tool["name"]);
    };
    expect(await names(["users"])).toEqual(["users_list", "users_one"]);
    expect(await names(["users.one", "Other"])).toEqual(["users_one", "other"]);
    expect(await names(({ path }) => path === "/other")).toEqual(["other"]);
    await expect(names((async () => false) as never)).rejects.toThrow("must return true or false");
    await expect(names(["nobody"])).rejects.toThrow('"nobody", which is no route, group or tag');
    const to = testApp(routes(definitions, { mcp: { include: ["other"] } }));
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "users.list" } };
    expect((await send(message, {}, to)).body?.error).toEqual({ code: -32602, message: "Unknown tool: users.list" });
  });

  it("are listed by pages", async () => {
    const definitions = Object.fromEntries(
      Array.from({ length: 250 }, (_, i) => [`r${i}`, get(`/r${i}`, () => ok({}))]),
    );
    const to = testApp(routes(definitions, { mcp: {} }));
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const { body } = await send({ jsonrpc: "2.0", id: 1, method: "tools/list", params }, {}, to);
      sizes.push(body?.result?.tools?.length ?? 0);
      cursor = body?.result?.nextCursor;
    } while (cursor !== undefined);
    expect(sizes).toEqual([100, 100, 50]);
    for (const wrong of ["", "x", 3, btoa("tools:-1"), btoa("tools:999")]) {
      const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: wrong } };
      expect((await send(message, {}, to)).body?.error?.code).toBe(-32602);
    }
  });
});

describe("a call", () => {
  it("goes through the route's validation", async () => {
    const { result } = await call("createUser", { name: "too long" });
    expect(result?.isError).toBe(true);
    expect(JSON.parse(result?.content?.[0]?.text ?? "")).toMatchObject({
      status: 400,
      errors: [{ in: "body", pointer: "#/name", code: "max" }],
    });
    // Clients of this revision compare it with the schema of a success.
    expect(result).not.toHaveProperty("structuredContent");
    const current = await modern("tools/call", { name: "createUser", arguments: {} });
    expect(current.body?.result).toMatchObject({ isError: true, structuredContent: { status: 400 } });
    expect((await call("createUser", { name: "Ada" })).result?.structuredContent).toEqual({ id: 1, name: "Ada" });
    expect((await call("getUser", { id: 100 })).result).toMatchObject({ isError: true });
    expect((await call("getUser", {})).result).toMatchObject({ isError: true });
  });

  it("has the caller's rights, and no others", async () => {
    expect((await call("me", {})).result).toMatchObject({ isError: true });
    expect((await call("me", {}, { authorization: "Bearer let-me-in" })).result?.structuredContent).toEqual({
      id: 1,
      name: "Ada",
    });
    const { errors } = JSON.parse(
      (await call("me", { authorization: "Bearer let-me-in" })).result?.content?.[0]?.text ?? "",
    );
    expect(errors).toEqual([
      { in: "arguments", pointer: "#/authorization", code: "unknown", detail: expect.any(String) },
    ]);
  });

  it("reaches no other route by its arguments", async () => {
    const { result } = await call("getUser", { id: "me" }, { authorization: "Bearer let-me-in" });
    expect(JSON.parse(result?.content?.[0]?.text ?? "")).toMatchObject({ status: 404 });
    for (const id of ["", ".", ".."]) expect((await call("items_remove", { id })).result?.isError).toBe(true);
    for (const path of ["", "..", "a/../b", "a/.", "./a"])
      expect((await call("files", { path })).result?.isError).toBe(true);
    expect((await call("files", { path: "a/b/%2e" })).result?.structuredContent).toEqual({ path: "a/b/%2e" });
    expect((await call("items_remove", { id: "$&{id}/../x" })).result?.content).toEqual([
      { type: "text", text: "204 No Content" },
    ]);
  });

  it("carries bodies of all kinds", async () => {
    expect((await call("tags", { body: ["a", "b"] })).result?.structuredContent).toEqual({ body: ["a", "b"] });
    expect((await call("profile", { name: "Ada" })).result?.structuredContent).toEqual({ name: "Ada" });
    const picture = { name: "a.png", type: "image/png", data: btoa("12345") };
    expect((await call("profile", { name: "Ada", picture })).result?.structuredContent).toEqual({
      name: "Ada",
      picture: { name: "a.png", type: "image/png", bytes: 5 },
    });
    expect((await call("profile", { name: "Ada", picture: { data: "?" } })).result?.isError).toBe(true);
    expect((await call("upload", { body: btoa("12345") })).result?.structuredContent).toEqual({ size: 5 });
  });

  it("has a result of every kind of answer", async () => {
    expect((await call("picture", {})).result?.content).toEqual([
      { type: "image", data: "AQI=", mimeType: "image/png" },
    ]);
    expect((await call("blob", {})).result?.content).toEqual([
      { type: "resource", resource: { uri: "/blob", mimeType: "application/zip", blob: "AQ==" } },
    ]);
    expect((await call("text", {})).result?.content).toEqual([{ type: "text", text: "hello" }]);
    expect((await call("ticks", {})).result?.content).toEqual([{ type: "text", text: "tick 1\ntick 2\ntick 3" }]);
    const { result } = await call("broken", {});
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 500 } });
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("leaves a header alone that the caller's own request has, because a proxy may have set it", async () => {
    const args = { path_id: "a", "idempotency-key": "k", body_id: 3 };
    const { result } = await call("items_replace", args, { "idempotency-key": "of the proxy" });
    expect(JSON.parse(result?.content?.[0]?.text ?? "").errors).toEqual([
      { in: "arguments", pointer: "#/idempotency-key", code: "unknown", detail: "is set by the request" },
    ]);
  });

  it("sends headers as every client does: one byte for a character", async () => {
    const app = testApp(
      routes(
        {
          read: get("/read", { headers: { "x-name": field.string() } }, ({ headers }) =>
            ok({ name: headers["x-name"] }),
          ),
        },
        { mcp: {} },
      ),
    );
    const read = async (name: string) =>
      (
        await app.post("/mcp", {
          json: {
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: { name: "read", arguments: { "x-name": name } },
          },
        })
      ).json().result;
    expect((await read("grüße")).structuredContent).toEqual({ name: "grüße" });
    for (const name of ["€", "a\r\nx: y", "\0", "\x7f"]) expect((await read(name)).isError).toBe(true);
  });

  it("has an error for a streamed answer that breaks off or is too large", async () => {
    for (const [name, status] of [
      ["breaks", 500],
      ["endless", 502],
    ] as const) {
      for (const _meta of [{}, { progressToken: 1 }]) {
        const params = { name, arguments: {}, _meta };
        const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
        const answer = await asked.post("/mcp", { json });
        await answer.read().catch(() => {});
        const last = answer.text().trim().split("\n\n").pop() ?? "";
        const { result } = JSON.parse(last.replace(/^event: message\ndata: /, "")) as Rpc;
        expect(result).toMatchObject({ isError: true, structuredContent: { status } });
      }
    }
    expect(ended).toBe(2);
  });

  it("reports the progress of a streamed answer", async () => {
    const params = { name: "ticks", arguments: {}, _meta: { progressToken: "t" } };
    const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const answer = await asked.post("/mcp", {
      json,
      headers: { accept: "application/json, text/event-stream" },
    });
    await answer.read();
    const text = answer.text();
    const events = text
      .trim()
      .split("\n\n")
      .map((event) => JSON.parse(event.replace(/^event: message\ndata: /, "")));
    expect(events).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "t", progress: 1, message: "tick 1" } },
      { method: "notifications/progress", params: { progress: 2, message: "tick 2" } },
      { method: "notifications/progress", params: { progress: 3, message: "tick 3" } },
      { id: 1, result: { content: [{ type: "text", text: "tick 1\ntick 2\ntick 3" }] } },
    ]);
  });

  it("passes on the caller's headers, without those of its message", async () => {
    const own = {
      "x-tenant": "a",
      cookie: "sid=1",
      "mcp-session-id": "x",
      "if-none-match": "*",
      accept: "application/json",
    };
    const { result } = await call("headers", {}, own);
    expect(result?.structuredContent).toEqual({
      "x-tenant": "a",
      cookie: "sid=1",
      accept: "application/json, */*;q=0.8",
    });
  });
});

describe("OAuth", () => {
  const issuer = "https://id.example";
  const auth = use(jwt({ key: "k".repeat(32), algorithms: ["HS256"], issuer }));
  const to = testApp(
    routes({ open: get("/open", () => ok({})), closed: auth.get("/closed", () => ok({})) }, { mcp: {} }),
  );

  it("has the metadata of the protected resource", async () => {
    for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
      const answer = await to.get(path, { headers: { host: "shop.example" } });
      expect(await answer.json()).toEqual({
        resource: "http://shop.example/mcp",
        authorization_servers: [issuer],
        bearer_methods_supported: ["header"],
      });
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    }
    expect((await asked.get("/.well-known/oauth-protected-resource")).status).toBe(404);
  });

  it("challenges a call that lacks a token, at the HTTP status", async () => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "closed" } };
    const { answer, body } = await send(message, { host: "shop.example" }, to);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe(
      'Bearer resource_metadata="http://shop.example/.well-known/oauth-protected-resource"',
    );
    expect(body).toMatchObject({ id: 1, result: { isError: true } });
    expect((await send({ ...message, params: { name: "open" } }, {}, to)).status).toBe(200);
  });

  it("leaves the metadata open where the whole app asks for a token", async () => {
    const closed = testApp(
      routes(
        { a: get("/a", () => ok({})) },
        { mcp: {}, use: [jwt({ key: "k".repeat(32), algorithms: ["HS256"], issuer })] },
      ),
    );
    expect((await closed.get("/.well-known/oauth-protected-resource")).status).toBe(200);
    const answer = await closed.post("/mcp", { json: { jsonrpc: "2.0", id: 1, method: "ping" } });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
      401,
      'Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource"',
    ]);
  });
});

describe("the option", () => {
  const definitions = { a: get("/a", () => ok({})) };
  it("is checked", () => {
    expect(() => routes(definitions, { mcp: { nam: "x" } as object })).toThrow('"nam"');
    expect(() => routes(definitions, { mcp: { include: [1] } as never })).toThrow('"include" must be');
    expect(() => routes({ x: post("/mcp", () => ok({})) }, { mcp: {} })).toThrow("two routes answer the same requests");
  });
  it("leaves the app's own routes as they are", () => {
    expect(routes(definitions, { mcp: {} }).operations.map(({ name }) => name)).toEqual(["a"]);
  });
});
