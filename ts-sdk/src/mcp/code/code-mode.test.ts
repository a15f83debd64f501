/** Code mode under `testApp`, where programs run in a context of Node. */
import { describe, expect, test } from "vitest";
import {
  apiKey,
  del,
  field,
  get,
  group,
  list,
  octetStream,
  ok,
  post,
  put,
  respond,
  routes,
  stream,
  Type,
} from "../../index.ts";
import { testApp } from "../../testing/index.ts";
import { credentialsOf, redact, redactJson } from "./redact.ts";

const Note = Type("Note", { id: field.u32(), text: field.string() });
let removed: number[] = [];
const app = testApp(
  routes(
    {
      listNotes: get("/notes", { response: list(Note) }, () => ok([{ id: 1, text: "one" }])),
      addNote: post("/notes", { body: { text: field.string({ max: 5 }) }, response: Note }, ({ body }) =>
        ok({ id: 2, ...body }),
      ),
      removeNote: del("/notes/{id}", { path: { id: field.u32() } }, ({ path }) => {
        removed.push(path.id);
        return ok({});
      }),
      echo: get("/echo", (_, req) => ok({ authorization: req.headers.get("authorization") })),
    },
    { mcp: { code: true, confirm: ({ method }) => method === "DELETE", limits: { cpuMs: 500, calls: 3 } } },
  ),
  { secrets: { MCP_CONFIRM_KEY: "k".repeat(32) } },
);

async function call(name: string, args: object, headers = {}) {
  const json = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  const { result, error } = (await app.post("/mcp", { json, headers })).json() as {
    result?: { structuredContent?: Record<string, never>; content: { text: string }[]; isError?: boolean };
    error?: { message: string };
  };
  return result ?? { structuredContent: undefined, content: [], ...error };
}
const execute = async (code: string, more = {}, headers = {}) =>
  (await call("execute", { code, ...more }, headers)).structuredContent;

test.each([
  ["export default async ({ n }: { n: number }) => n + (await api.listNotes()).data.length", 8],
  ["const a: number = 1;\na + 1", 2],
  ["export default function double() { return input.n * 2 }", 14],
  ["const { status } = await api.addNote({ body: { text: 'too long' } }); status", 400],
  ["(await Promise.all([api.listNotes(), api.listNotes()])).length", 2],
  ["[typeof process, typeof require, typeof fetch, typeof setTimeout, typeof convert]", Array(5).fill("undefined")],
  ["[atob(btoa('text')), await new Promise((done) => queueMicrotask(() => done('later')))]", ["text", "later"]],
  [
    "let thrown; try { atob('?') } catch (error) { thrown = error }\n[thrown instanceof DOMException, thrown.name]",
    [true, "InvalidCharacterError"],
  ],
  ["(await api.echo()).data.authorization", "[credential]"],
])("%s has the value %j", async (code, value) => {
  expect(await execute(code, { input: { n: 7 } }, { authorization: "Bearer secret-token" })).toMatchObject({
    ok: true,
    value,
  });
});

test.each([
  ["for (;;);", { kind: "limit", limit: "cpuMs" }],
  ["for (;;) await api.listNotes()", { kind: "limit", limit: "calls" }],
  ["throw new TypeError('own')", { kind: "thrown", message: "own", name: "TypeError" }],
  ["const = 1", { kind: "syntax" }],
  ["import x from 'x'; x", { kind: "syntax" }],
  ["await new Promise(() => {})", { kind: "thrown" }],
])("%s fails", async (code, error) => {
  expect(await execute(code)).toMatchObject({ ok: false, error });
});

test("programs run at the same time", async () => {
  const all = await Promise.all([1, 2, 3].map((n) => execute("await api.listNotes(); input", { input: n })));
  expect(all.map((done) => done?.["value"])).toEqual([1, 2, 3]);
});

test("a confirmation", async () => {
  removed = [];
  const code = "await api.removeNote({ path: { id: 7 } }); 'done'";
  const asked = (await execute(code)) as unknown as { confirm: { token: string; calls: unknown[] } };
  expect([asked.confirm.calls, removed]).toEqual([
    [{ name: "removeNote", method: "DELETE", path: "/notes/7", input: { path: { id: 7 } } }],
    [],
  ]);
  expect(await execute(code, { confirm: asked.confirm.token }, { cookie: "of=another" })).toMatchObject({ ok: false });
  expect(await execute(code, { confirm: asked.confirm.token })).toMatchObject({ ok: true, value: "done" });
  expect(removed).toEqual([7]);
});

describe("the option", () => {
  test.each([
    [{ code: "yes" }, '"code" must be true or false'],
    [{ code: true, confirm: true }, '"confirm" must be a function'],
    [{ confirm: () => true }, '"confirm" and "limits" must come with "code: true"'],
    [{ code: true, limits: { cpu: 1 } }, '"cpu"'],
    [{ code: true, limits: { cpuMs: 0 } }, '"limits.cpuMs" must be a whole number from 1 on'],
  ])("%j is refused", (mcp, message) => {
    expect(() => routes({ one: get("/one", () => ok({})) }, { mcp: mcp as never })).toThrow(message);
  });
});

test("search finds signatures", async () => {
  const { content } = await call("search", { query: "notes" });
  expect(content[0]?.text).toContain(
    "api.addNote(input: { body: { text: string } }): Answer<{ id: number; text: string }>;",
  );
});

test("signatures of names that are no identifiers, and of a large type", async () => {
  const fields = Array.from({ length: 200 }, (_, n) => [`field${n}`, field.string({ docs: "of the type ".repeat(9) })]);
  const many = routes(
    {
      "list-all": get("/all", () => ok({})),
      größe: group("/sizes", { "by id": get("/{id}", { path: { id: field.u32() } }, () => ok({})) }),
      add: post("/large", { body: Type("Large", Object.fromEntries(fields)) }, () => ok({})),
    },
    { mcp: { code: true } },
  );
  const params = { name: "search", arguments: {} };
  const answer = await testApp(many).post("/mcp", { json: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
  const { result } = answer.json() as { result: { content: { text: string }[] } };
  const [, ...signatures] = result.content[0]?.text.split("\n\n") ?? [];
  expect(signatures.slice(0, 2)).toEqual([
    '/** GET /all */\napi["list-all"](): Answer<unknown>;',
    '/** GET /sizes/{id} */\napi.größe["by id"](input: { path: { id: number } }): Answer<unknown>;',
  ]);
  expect(signatures[2]).toMatch(
    /^\/\*\* POST \/large \*\/\napi\.add\(input: \{ body: \{ field0: string; field1: string; /,
  );
  expect(signatures[2]?.length).toBeLessThan(8_000);
});

describe("credentials and confirmations of an app with API keys", () => {
  const repeats = {
    bare: (key: string) => key,
    escaped: (key: string) => `{"${key.replaceAll("-", "\\u002d")}":["\\/","${key}","\\\\${key}"]}`,
    password: (_: string, basic: string) => JSON.stringify(atob(basic.slice(6)).split(":")),
  };
  let turn = 0;
  let uploads: { dry: string | undefined; bytes: number[] }[] = [];
  const keyed = testApp(
    routes(
      {
        whoami: get("/whoami", (_, { headers, cookies }) =>
          ok({ key: headers.get("x-api-key"), sid: cookies.get("sid"), signed: cookies.get("sig")?.slice(0, -4) }),
        ),
        as: get("/as", { headers: { "x-api-key": field.string().optional() } }, ({ headers }) => ok(headers)),
        pin: get("/pin", () => ok({ pin: 12345678, other: 1234 })),
        nothing: get("/nothing", () => ok(null)),
        // Answers of other servers that repeat the request, each in its own way.
        ...Object.fromEntries(
          Object.entries(repeats).map(([name, write]) => [
            name,
            get(`/repeats/${name}`, (_, { headers }) =>
              respond(200, {
                headers: { "content-type": "application/json" },
                body: write(headers.get("x-api-key") ?? "", headers.get("authorization") ?? ""),
              }),
            ),
          ]),
        ),
        copy: get("/copy", (_, req) =>
          stream(async function* () {
            yield `\0${req.headers.get("x-api-key")}`;
          }),
        ),
        turn: get("/turn", () => ok(turn++ % 2)),
        upload: put(
          "/file",
          { headers: { "x-dry-run": field.string().optional() }, body: octetStream() },
          async ({ headers, body }) => {
            const bytes: number[] = [];
            for await (const piece of body) bytes.push(...piece);
            uploads.push({ dry: headers["x-dry-run"], bytes });
            return ok({});
          },
        ),
      },
      {
        use: [apiKey({ header: "X-API-Key" }, async (key) => ({ name: key }))],
        mcp: { code: true, confirm: () => true, limits: { cpuMs: 500, outputBytes: 1000 } },
      },
    ),
    { secrets: { MCP_CONFIRM_KEY: "k".repeat(32) } },
  );
  const headers = {
    "x-api-key": "key-of-ada",
    cookie: 'sid="s%3Aof-a-session"; sig=of-a-signed-one.mac',
    authorization: "Bearer 12345678",
  };
  interface Done {
    readonly ok: boolean;
    readonly value?: unknown;
    readonly error?: { readonly kind: string; readonly limit?: string };
    readonly confirm?: { readonly token?: string };
  }
  const run = async (code: string, more: object = {}, caller: object = headers) => {
    const params = { name: "execute", arguments: { code, ...more } };
    const answer = await keyed.post("/mcp", {
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      headers: { ...caller },
    });
    return (answer.json() as { result: { structuredContent: Done } }).result.structuredContent;
  };
  const confirmed = async (code: string, caller: object = headers) => {
    [turn, uploads] = [0, []];
    const { confirm } = await run(code);
    return run(code, { confirm: confirm?.token }, caller);
  };

  test.each([
    ["(await api.whoami()).data", { key: "[credential]", sid: "[credential]", signed: "[credential]" }],
    ["(await api.pin()).data", { pin: "[credential]", other: 1234 }],
    [
      "await api.as({ headers: { 'x-api-key': 'key-of-eve' } }).catch((e) => e.message)",
      '"headers.x-api-key" is not an input of this route',
    ],
    ["(await api.copy()).data", btoa("\0[credential]")],
    ["(await api.bare()).data", "[credential]"],
    ["(await api.escaped()).data", { "[credential]": ["/", "[credential]", "\\[credential]"] }],
    [
      "(await api.password()).data",
      ["ada", "[credential]"],
      { ...headers, authorization: `Basic ${btoa("ada:pa/ssword")}` },
    ],
    ["(await api.nothing()).data", null],
  ])("%s has no credential", async (code, value, caller = headers) => {
    expect(await run(code, {}, caller)).toMatchObject({ value });
  });

  const upload = (bytes: string, dry: string) =>
    `const { data } = await api.turn(); await api.upload({ headers: { "x-dry-run": ${dry} }, body: ${bytes} })`;
  test.each([
    ["as they were shown", upload("'/w=='", "'1'"), headers, [{ dry: "1", bytes: [255] }]],
    ["not with another header", upload("'/w=='", "String(data)"), headers, []],
    ["not with another header of the caller", upload("'/w=='", "undefined"), { ...headers, "x-dry-run": "2" }, []],
    ["not with other bytes", upload("data ? '/w==' : '/g=='", "'1'"), headers, []],
    ["not for another API key", upload("'/w=='", "'1'"), { ...headers, "x-api-key": "key-of-eve" }, []],
  ])("calls are made %s", async (_, code, caller, made) => {
    const { error } = await confirmed(code, caller);
    expect([error?.kind, uploads]).toEqual([made.length === 0 ? "confirm" : undefined, made]);
  });

  test("a credential is found however a URL, HTML or JSON has escaped it", () => {
    const named: Record<string, string> = { "&": "&amp;", "<": "&lt;", '"': "&quot;" };
    const escapes: [RegExp, (character: string) => string][] = [
      [/[&<"'=/]/g, (c) => named[c] ?? `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`],
      [/[&<"'+]/g, (c) => (c === "'" ? "&apos;" : (named[c] ?? `&#${c.charCodeAt(0)};`))],
      [/[^a-z]/gu, encodeURIComponent],
      [/["<' \u0080-\uffff]/gu, encodeURIComponent],
      [/[^a-zA-Z]/gu, (c) => (c === " " ? "+" : encodeURIComponent(c).toLowerCase())],
      [/["<\\/]/g, (c) => `\\${c === "<" ? "u003c" : c}`],
      [/[^a-z]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`],
    ];
    for (const value of ["key'of/ada+1=", 'a"b<c>&d/%3Ae\\f', "pass word of zoë", "s%3Aof-a/session"]) {
      const credentials = credentialsOf([["x-api-key", new TextEncoder().encode(value)]], ["x-api-key"]);
      for (const [characters, escaped] of escapes) {
        const text = `é+1 & 50% \\ ${value.replace(characters, escaped)} + ${value}&${value.replace(characters, escaped)}%\\`;
        const redacted = "é+1 & 50% \\ [credential] + [credential]&[credential]%\\";
        expect(redact(text, credentials)).toBe(redacted);
        expect(JSON.parse(redactJson(JSON.stringify({ text, n: 1 }), credentials))).toEqual({ text: redacted, n: 1 });
      }
    }
    const other = '{"a+b":"50% &amp; \\u0061","n":1}';
    expect([redact(other, ["key-of-ada"]), redactJson(other, ["key-of-ada"])]).toEqual([other, other]);
  });

  test("what is shown counts as output", async () => {
    const large = await run("await api.upload({ body: 'eHh4'.repeat(500) })");
    expect(large).toMatchObject({ ok: false, error: { kind: "limit", limit: "outputBytes" } });
    expect(large.confirm).toBeUndefined();
  });
});
