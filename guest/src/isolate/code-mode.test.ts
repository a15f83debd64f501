/** Code mode in the engine: programs, their results, limits and confirmations. */
import { beforeAll, describe, expect, test } from "vitest";
import { type CodeModeApp, startCodeMode } from "../../testing/code-mode.ts";

const environment = { TENON_SECRET_KEY: "s3cr3t-of-the-module", TENON_SECRET_MCP_CONFIRM_KEY: "k".repeat(32) };
const ada = { authorization: "Bearer token-of-ada", "x-tenant": "ada" };

let app: CodeModeApp;
beforeAll(async () => {
  app = await startCodeMode("isolate/app.testing.ts", environment);
}, 60_000);

const run = (code: string, more: object = {}, headers: Readonly<Record<string, string>> = ada) => {
  const { status, body } = app.call("execute", { code, ...more }, headers);
  if (body.result === undefined) return { status, error: body.error };
  return body.result.structuredContent as Record<string, unknown>;
};

test.each([
  ["1 + 1", 2],
  ["export default 5", 5],
  ["export default async ({ n }: { n: number }): Promise<number> => n * 2", 14],
  ["input.n as number", 7],
  ["(await api.notes.list({})).data", [{ id: 1, text: "of ada", tenant: "ada" }]],
  ["const { status, ok } = await api.notes.find({ path: { id: 'a b/c' } }); [status, ok]", [200, true]],
  ["(await api.notes.find({ path: { id: 'a b/c' } })).data.id", "a b/c"],
  ["(await api.forbidden()).problem.detail", "no"],
  ["(await api.notes.add({ body: { text: 'x'.repeat(200) } })).status", 400],
  [
    "(await Promise.all([api.notes.find({ path: { id: '1' } }), api.notes.find({ path: { id: '2' } })])).map((e) => e.data.id)",
    ["1", "2"],
  ],
  ["await api.nowhere().catch((e) => e.message)", "api.nowhere is not a route: search finds their names"],
  ["await api.notes.find({ id: 1 }).catch((e) => e.message)", '"id" must be path, query, headers or body'],
  ["await api.notes.find({ path: { id: 1, x: 1 } }).catch((e) => e.message)", '"path.x" is not an input of this route'],
  [
    "await api.notes.find(1).catch((e) => e.message)",
    "the argument of a route must be an object: { path, query, headers, body }",
  ],
  ["typeof (await api) + typeof api.then", "functionundefined"],
  ["undefined", undefined],
])("%s has the value %j", (code, value) => {
  const done = run(code, { input: { n: 7 } });
  expect(done).toMatchObject({ ok: true, ...(value === undefined ? {} : { value }) });
});

test("a program's log, and its use of processor time and calls", () => {
  const done = run("console.log('one', { a: 1 }, new Error('x')); console.error(2); await api.notes.list({}); 1");
  expect(done["logs"]).toEqual([
    { level: "info", message: 'one {"a":1} Error: x' },
    { level: "error", message: "2" },
  ]);
  expect(done["usage"]).toMatchObject({ calls: 1, cpuUs: expect.any(Number) });
});

test.each([
  ["const x: number = 1;\nthrow new TypeError('own')", { kind: "thrown", message: "own", name: "TypeError", line: 2 }],
  ["throw 'text'", { kind: "thrown", message: "text" }],
  ["const a = 1;\nconst b = ;", { kind: "syntax", line: 2 }],
  ["enum A { B }", { kind: "syntax", line: 1 }],
  ["import x from 'x'", { kind: "syntax" }],
  ["await new Promise(() => {})", { kind: "thrown", message: "The program waits for something that never happens." }],
  ["let v = 1; for (let i = 0; i < 100; i++) v = [v]; v", { kind: "thrown" }],
  ["for (let i = 0; i < 6; i++) await api.notes.list({})", { kind: "limit", limit: "calls" }],
  // The list of its calls, as one list of arguments, is too long for the engine.
  [
    `const call = [1, "x", 0];
    const value = () => (delete Object.prototype.toJSON, { calls: Array(1e5).fill(call), logs: [] });
    Object.defineProperty(Object.prototype, "toJSON", { configurable: true, value });
    1`,
    { kind: "limit", limit: "calls" },
  ],
  ["for (;;);", { kind: "limit", limit: "cpuMs" }],
  ["const a = []; for (;;) a.push(new Array(1000).fill(0))", { kind: "limit", limit: "memoryBytes" }],
  ["'x'.repeat(3000)", { kind: "limit", limit: "outputBytes" }],
  ["for (let i = 0; i < 200; i++) console.log('x'.repeat(10))", { kind: "limit", limit: "logBytes" }],
])("%s fails", (code, error) => {
  expect(run(code)).toMatchObject({ ok: false, error });
});

test.each([
  [{}, /"code" must be a text/],
  [{ code: 1 }, /"code" must be a text/],
  [{ code: "x".repeat(70_000) }, /"code" must be a text/],
  [{ code: "1", limits: {} }, /execute takes/],
])("the arguments %j are refused", (args, message) => {
  expect(app.call("execute", args, ada).body.error).toMatchObject({
    code: -32602,
    message: expect.stringMatching(message),
  });
});

describe("search", () => {
  const search = (args: object) =>
    (app.call("search", args, ada).body.result?.content as { text: string }[] | undefined)?.[0]?.text ?? "";

  test("finds signatures by words", () => {
    expect(search({ query: "remove" }).split("\n\n")).toEqual([
      "1 of 7 routes, page 1 of 1",
      "/** Removes a note. (DELETE /notes/{id}) */\napi.notes.remove(input: { path: { id: number } }): Answer<unknown>;",
    ]);
    expect(search({ query: "list the notes" }).split("\n\n")[1]).toContain(
      'api.notes.list(input?: { query?: { q?: string }; headers?: { "x-tenant"?: string } }): Answer<Array<{ id: number; text: string; tenant: string }>>;',
    );
    expect(search({ query: "zebra" })).toBe("0 of 7 routes, page 1 of 1");
    expect(search({})).toContain("7 of 7 routes");
    expect(search({ page: 2 })).toBe("7 of 7 routes, page 2 of 1");
  });

  test("never names a route that is no tool", () => {
    expect(search({ query: "admin env wipe seen any key secret" })).not.toMatch(/admin|env|wipe|seen|\bany\b/);
  });

  test.each([{ query: 1 }, { query: "x".repeat(300) }, { page: 0 }, { page: "1" }, { sort: 1 }])(
    "refuses %j",
    (args) => {
      expect(app.call("search", args, ada).body.error).toMatchObject({ code: -32602 });
    },
  );
});

describe("a confirmation", () => {
  const removal = "await Promise.all([1, 2].map((id) => api.notes.remove({ path: { id } }))); 'done'";
  type Asked = { error: { kind: string; message: string }; confirm: { calls: object[]; token?: string } };
  const seen = () => app.get("/seen") as { seen: { route: string }[]; notes: { id: number }[] };

  test("says what would be done, and its token does it", () => {
    seen();
    const asked = run(removal) as unknown as Asked;
    expect(asked).toMatchObject({
      ok: false,
      error: { kind: "confirm" },
      confirm: {
        calls: [
          { name: "notes.remove", method: "DELETE", path: "/notes/1", input: { path: { id: 1 } } },
          { name: "notes.remove", method: "DELETE", path: "/notes/2" },
        ],
      },
    });
    expect(seen().seen).toEqual([]);
    // The caller of the second request is the same, though it is in another trace.
    const later = { ...ada, traceparent: "00-1" };
    expect(run(removal, { confirm: asked.confirm.token }, later)).toMatchObject({
      ok: true,
      value: "done",
      usage: { calls: 2 },
    });
    const after = seen();
    expect([after.seen.length, after.notes]).toEqual([2, []]);
  });

  test("is of its program, its caller, its input and its calls", () => {
    const token = (run(removal) as unknown as Asked).confirm.token as string;
    const refused = { ok: false, error: { kind: "confirm", message: expect.stringContaining("not of this program") } };
    expect(run(`${removal} `, { confirm: token })).toMatchObject(refused);
    expect(run(removal, { confirm: token, input: 1 })).toMatchObject(refused);
    expect(run(removal, { confirm: token }, { ...ada, authorization: "Bearer token-of-root" })).toMatchObject(refused);
    expect(run(removal, { confirm: `${token}x` })).toMatchObject(refused);
    expect(run(removal, { confirm: `${token}.x` })).toMatchObject(refused);
    expect(run(removal, { confirm: 1 })).toMatchObject(refused);
    expect(seen().seen).toEqual([]);
    const changing = "const { data } = await api.notes.list({}); await api.notes.remove({ path: { id: data.length } })";
    const first = run(changing) as unknown as Asked;
    run("await api.notes.add({ body: { text: 'x' } })");
    expect(run(changing, { confirm: first.confirm.token })).toMatchObject({ error: { kind: "confirm" } });
  });
});

test("programs follow one another, and nothing is left of them", () => {
  run("globalThis.left = 1; Array.prototype.map = null; Object.prototype.polluted = 1; JSON.parse = null");
  expect(run("[typeof left, typeof [].map, 'polluted' in {}, typeof JSON.parse]")).toMatchObject({
    value: ["undefined", "function", false, "function"],
  });
});
