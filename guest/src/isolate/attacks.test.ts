/**
 * Attacks by programs and arguments of code mode. Each is tried against the app, where it must gain nothing, and against the same app
 * without the fence that stops it, where it must succeed.
 */
import { describe, expect, test } from "vitest";
import { hostileValues } from "../../../ts-sdk/test/hostile-values.ts";
import { type CodeModeApp, type Removal, type Rpc, startCodeMode } from "../../testing/code-mode.ts";
import type { SeenRequest } from "./make-app.testing.ts";

const SECRET = "s3cr3t-of-the-module";
const environment = { TENON_SECRET_KEY: SECRET, TENON_SECRET_MCP_CONFIRM_KEY: "k".repeat(32) };
const ada = { authorization: "Bearer token-of-ada", "x-tenant": "ada" };

interface State {
  readonly seen: readonly SeenRequest[];
  readonly notes: readonly { id: number }[];
  readonly polluted: boolean;
}

/** Everything that an attack can have reached. */
interface Outcome extends State {
  readonly status: number;
  readonly body: Rpc;
  readonly text: string;
  readonly value: unknown;
}

interface Attack {
  readonly name: string;
  readonly code: string;
  readonly input?: unknown;
  /** The caller's headers. */
  readonly headers?: Readonly<Record<string, string>>;
  wins(outcome: Outcome): boolean;
}

/** Attacks that one fence stops. */
interface Fence {
  readonly name: string;
  readonly file?: string;
  readonly removals: readonly Removal[];
  readonly attacks: readonly Attack[];
}

const change = (file: string, text: string, instead: string): Removal => ({ file, text, instead });

// The isolate: programs of the same text run in the app's own runtime, with its globals and modules.

/** Ways to a global object. */
const globals = [
  "globalThis",
  "globalThis.globalThis",
  "Function('return this')()",
  "new Function('return globalThis')()",
  "(0, eval)('globalThis')",
  "eval('globalThis')",
  "[].constructor.constructor('return globalThis')()",
  "({}).constructor.constructor('return globalThis')()",
  "''.at.constructor('return globalThis')()",
  "(1).toFixed.constructor('return globalThis')()",
  "console.log.constructor('return globalThis')()",
  "JSON.parse.constructor('return globalThis')()",
  "Symbol.constructor('return globalThis')()",
  "Promise.resolve().then.constructor('return globalThis')()",
  "Reflect.construct(Function, ['return globalThis'])()",
  "Reflect.getPrototypeOf(console.log).constructor('return globalThis')()",
  "await Object.getPrototypeOf(async () => {}).constructor('return globalThis')()",
  "Object.getPrototypeOf(function* () {}).constructor('yield globalThis')().next().value",
  "(await Object.getPrototypeOf(async function* () {}).constructor('yield globalThis')().next()).value",
  "new (class extends Function {})('return globalThis')()",
  "new Proxy(Function, {})('return globalThis')()",
  "[...Array(1)].map(Function.prototype.call.bind(Function('return this')))[0]",
  "(() => { try { null.x } catch (e) { return e.constructor.constructor('return globalThis')() } })()",
  "Iterator.prototype.map.constructor('return globalThis')()",
  "new WeakRef(globalThis).deref()",
];

/** Uses of a global object, `G`, that reach beyond the program. */
const reaches: readonly (readonly [use: string, wins: Attack["wins"]])[] = [
  ["G[Symbol.for('tenon.environment')]().map(String).join()", ({ text }) => text.includes(SECRET)],
  ["G.ofTheApp()", ({ text }) => text.includes(SECRET)],
  ["typeof G[Symbol.for('tenon.calls')]", ({ value }) => value === "function"],
  ["typeof G[Symbol.for('tenon.isolate')]", ({ value }) => value === "object"],
  ["G[Symbol.for('tenon.tools')]().tools.length", ({ value }) => typeof value === "number"],
  ["typeof G.setTimeout", ({ value }) => value === "function"],
  [
    "Reflect.defineProperty(G.Object.prototype, 'polluted', { value: 1, configurable: true })",
    ({ polluted }) => polluted,
  ],
  ["typeof G[Symbol.for('tenon.variables')]", ({ value }) => value === "function"],
];

const isolate: Fence = {
  name: "the isolate",
  removals: [
    change("isolate/install.ts", "openIsolate(program);", "void openIsolate;"),
    change(
      "isolate/install.ts",
      "exchange: exchangeIsolate,",
      `exchange: (() => {
    const own = (0, eval)(program)((source, name) => evaluate(source, name, {}));
    return async (text) => {
      own(text);
      for (let turn = 0; turn < 50; turn++) await undefined;
      return own();
    };
  })(),`,
    ),
    change("isolate/install.ts", "usage: isolateUsage", "usage: () => [0, 0] as const"),
    change(
      "isolate/install.ts",
      "import { exchangeIsolate, hmac, isolateUsage, openIsolate }",
      "import { evaluate, hmac, openIsolate }",
    ),
    change("code/program.ts", "!GLOBALS.has(name)", "false"),
    change("code/execute.ts", "this.#opened?.exchange(", "await this.#opened?.exchange("),
    change("code/execute.ts", "#exchange(text: ToIsolate)", "async #exchange(text: ToIsolate)"),
    change("code/execute.ts", "over = this.#exchange(", "over = await this.#exchange("),
  ],
  attacks: globals.flatMap((way) =>
    reaches.map(([use, wins]) => ({ name: `${use} by ${way}`, code: `const G = ${way};\n${use}`, wins })),
  ),
};

const fences: readonly Fence[] = [
  {
    name: "the list of globals",
    removals: [change("code/program.ts", "!GLOBALS.has(name)", "false")],
    attacks: ["Atomics", "SharedArrayBuffer"].map((name) => ({
      name,
      code: `typeof ${name}`,
      wins: ({ value }) => value !== "undefined",
    })),
  },
  {
    name: "the list of tools",
    file: "isolate/open-app.testing.ts",
    removals: [],
    attacks: [
      ["env", "api.env()"],
      ["wipe", "api.wipe()"],
      ["any", "api.any({ path: { tenant: 'ada' } })"],
      ["notes.admin", "api.notes.admin()"],
      ["notes.admin", "api['notes.admin']()"],
    ].map(([route, call]) => ({
      name: `${call}`,
      code: `await ${call}`,
      wins: ({ seen, body }) =>
        seen.some((each) => each.route === route) || JSON.stringify(body).includes('"confirm":{'),
    })),
  },
  {
    name: "a call's own route",
    removals: [
      change("mcp/call-tool.ts", 'match.found !== "operation" || match.operation !== operation', "match === undefined"),
    ],
    attacks: ["'admin'", "['admin'].join()", "String.raw`admin`", "{ toJSON: () => 'admin' }"].map((id) => ({
      name: id,
      code: `(await api.notes.find({ path: { id: ${id} } })).data`,
      wins: ({ seen }) => seen.some(({ route }) => route === "notes.admin"),
    })),
  },
  {
    name: "the caller's own headers",
    removals: [change("mcp/build-request.ts", "headers.some(([own]) => own.toLowerCase() === name)", "name === ''")],
    attacks: ["eve", ["eve"], "root, eve"].map((tenant) => ({
      name: JSON.stringify(tenant),
      code: "(await api.notes.list({ headers: { 'x-tenant': input } })).data",
      input: tenant,
      wins: ({ seen }) => seen.some(({ headers }) => headers["x-tenant"] !== "ada"),
    })),
  },
  {
    name: "inputs that are declared",
    removals: [
      change(
        "code/program-input.ts",
        "if (unknown !== undefined) return",
        "if (unknown !== undefined) for (const [key, value] of left) flat.push([key.slice(8), value]);\n  if (1 > 2) return",
      ),
      change(
        "mcp/build-request.ts",
        "const found = known.get(argument);",
        'const found = known.get(argument) ?? { place: "header", name: argument };',
      ),
      change(
        "mcp/build-request.ts",
        "headers.some(([own]) => own.toLowerCase() === name)",
        "headers.splice(0, 99, ...headers.filter(([own]) => own !== name)) === undefined",
      ),
    ],
    attacks: ["authorization"].map((header) => ({
      name: header,
      code: "await api.forbidden({ headers: { [input]: 'Bearer token-of-root' } })",
      input: header,
      wins: ({ value }) => (value as { status?: number } | undefined)?.status === 200,
    })),
  },
  {
    name: "segments of dots",
    removals: [change("mcp/build-request.ts", 'segment === "." || segment === ".."', "segment === text + text")],
    attacks: ["..", "../admin", "a/../../env", "./a", "a/.."].map((rest) => ({
      name: rest,
      code: "await api.tree({ path: { rest: input } })",
      input: rest,
      wins: ({ seen }) => seen.some(({ path }) => /\/\.\.?(?:\/|$)/.test(path)),
    })),
  },
  {
    name: "the encoding of paths",
    removals: [change("mcp/build-request.ts", "segments.map(encode)", "segments.map(String)")],
    attacks: ["..%2fadmin", "a?q=1#x", "a\r\nx-tenant: eve", "%00", "%61b", "a;b c"].map((id) => ({
      name: JSON.stringify(id),
      code: "await api.notes.find({ path: { id: input } })",
      input: id,
      wins: ({ seen }) => seen.some(({ path }) => path !== `/notes/${encodeURIComponent(id)}`),
    })),
  },
  {
    name: "the encoding of queries",
    removals: [
      change(
        "mcp/build-request.ts",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the source
        "query.push(`${encode(name)}=${encode(textOf(item))}`)",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the source
        "query.push(`${name}=${textOf(item)}`)",
      ),
    ],
    attacks: ["a+b", "a%26b", "a b", "a=b#c", "%2e%2e"].map((q) => ({
      name: JSON.stringify(q),
      code: "await api.notes.list({ query: { q: input } })",
      input: q,
      wins: ({ seen }) => seen.some(({ query }) => query !== `q=${encodeURIComponent(q)}`),
    })),
  },
  {
    name: "the lines of headers",
    removals: [change("mcp/build-request.ts", "/[^\\t -~\\x80-\\xff]/.test(text)", "text === 'x'")],
    attacks: ["a\r\nauthorization: Bearer token-of-root", "a\n\nGET /env HTTP/1.1", "\0", ["a", "b\r"]].map(
      (tenant) => ({
        name: JSON.stringify(tenant),
        code: "await api.notes.list({ headers: { 'x-tenant': input } })",
        input: tenant,
        headers: { authorization: ada.authorization },
        // Control characters, which end a header for a proxy.
        wins: ({ seen }) => seen.some(({ headers }) => /[^ -~]/.test(headers["x-tenant"] ?? "")),
      }),
    ),
  },
  {
    name: "redaction",
    removals: [change("code/execute.ts", "redactJson(text, this.#credentials)", "text")],
    attacks: [
      "await api.echo()",
      "(await api.echo()).data.headers",
      "JSON.stringify(await api.echo())",
      "console.log(await api.echo())",
      "Object.fromEntries((await api.echo()).data.headers.map((pair) => pair.reverse()))",
    ].map((code) => ({ name: code, code, wins: ({ text }) => text.includes("token-of-ada") })),
  },
  {
    name: "the budget of processor time",
    removals: [change("code/execute.ts", "cpuMs * 1000", "1e9")],
    attacks: [
      "let n = 0; while (n < 1e6) n++; n",
      "let s = 0; for (const x of Array(6e5).keys()) s += x; s",
      "for (let i = 0; i < 5e3; i++) await i; 1",
      "[].lastIndexOf.call({ length: 6e5 }, 1)",
      "'a'.repeat(8e3).split('a'.repeat(5e3) + 'b').length",
      "'a'.repeat(8e3).replaceAll('a'.repeat(5e3) + 'b', '').length",
      "((1n << 170000n) - 1n).toString().length",
      "BigInt('9'.repeat(50000)) > 1n",
      "/(?=(a+))*b/.test('a'.repeat(8000))",
      "/^(a{8000}).*?\\1c/.test('a'.repeat(16000))",
      "try { for (let i = 0; i < 1e6; i++); } finally { console.log('caught') } 1",
    ].map((code) => ({ name: code, code, wins: ({ body }) => body.result?.isError !== true })),
  },
  {
    name: "the budget of memory",
    removals: [change("code/execute.ts", "cpuMs * 1000, memoryBytes", "1e9, 2 ** 30")],
    attacks: ["new ArrayBuffer(20 << 20).byteLength", "'x'.repeat(20 << 20).length", "Array(3e6).fill(0).length"].map(
      (code) => ({
        name: code,
        code,
        wins: ({ body }) => body.result?.isError !== true,
      }),
    ),
  },
  {
    name: "the budget of calls",
    removals: [change("code/execute.ts", "++this.#calls > this.#limits.calls", "++this.#calls > 1e6")],
    attacks: [
      "for (let i = 0; i < 20; i++) await api.notes.list({})",
      "await Promise.all(Array.from({ length: 20 }, () => api.notes.list({})))",
      "for (let i = 0; i < 20; i++) api.notes.list({})",
    ].map((code) => ({ name: code, code, wins: ({ seen }) => seen.length > 5 })),
  },
  {
    name: "the budget of the value",
    removals: [change("code/execute.ts", "encodeUtf8(text).length > this.#limits.outputBytes", "text === 'x'")],
    attacks: ["'x'.repeat(5000)", "Array(2000).fill(1)", "({ ['k'.repeat(5000)]: 1 })", "'é'.repeat(1500)"].map(
      (code) => ({
        name: code,
        code,
        wins: ({ body }) => body.result?.isError !== true,
      }),
    ),
  },
  {
    name: "the budget of the log",
    removals: [change("code/execute.ts", "this.#logBytes > this.#limits.logBytes", "this.#logBytes < 0")],
    attacks: [
      "console.log('x'.repeat(5000))",
      "for (let i = 0; i < 500; i++) console.log()",
      "console.error({ a: 'é'.repeat(2000) })",
    ].map((code) => ({ name: code, code, wins: ({ body }) => body.result?.isError !== true })),
  },
  {
    name: "the confirmation",
    removals: [change("code/execute.ts", "if (at === -1) {", "if (at === 9) {")],
    attacks: [
      "await api.notes.remove({ path: { id: 1 } })",
      "api.notes.remove({ path: { id: 1 } }); 1",
      "await Promise.race([api.notes.remove({ path: { id: 1 } }), api.notes.list({})])",
      "await api['notes.remove']({ path: { id: '1' } })",
    ].map((code) => ({ name: code, code, wins: ({ seen }) => seen.some(({ method }) => method === "DELETE") })),
  },
  {
    name: "the depth of arguments",
    removals: [change("code/execute.ts", "if (isDeep(input))", "if (input === 'x')")],
    attacks: [100, 500].map((depth) => ({
      name: String(depth),
      code: `let v = 'x'; for (let i = 0; i < ${depth}; i++) v = [v]; await api.notes.find({ path: { id: v } }).catch(() => {})`,
      wins: ({ seen }) => seen.length > 0,
    })),
  },
];

const places: readonly string[] = [
  "api.notes.find({ path: { id: input } })",
  "api.tree({ path: { rest: input } })",
  "api.notes.list({ query: { q: input } })",
  "api.notes.list({ headers: { 'x-tenant': input } })",
  "api.notes.add({ body: { text: input } })",
  "api.notes.add({ body: input })",
  "api.notes.list(input)",
];

async function attack(
  app: CodeModeApp,
  { code, input, headers = ada }: Pick<Attack, "code" | "input" | "headers">,
): Promise<Outcome> {
  const { status, body } = app.call("execute", { code, ...(input === undefined ? {} : { input }) }, headers);
  const state = app.get("/seen") as State;
  const { value } = (body.result?.structuredContent ?? {}) as { value?: unknown };
  return { status, body, text: JSON.stringify(body), value, ...state };
}

const start = ({ file = "isolate/app.testing.ts", removals }: Fence) => startCodeMode(file, environment, removals);

test("are more than 200 programs and 200 arguments", () => {
  expect(isolate.attacks.length + fences.flatMap(({ attacks }) => attacks).length).toBeGreaterThan(240);
  expect(hostileValues.length * places.length).toBeGreaterThan(200);
});

describe.each([isolate, ...fences])("$name", (fence) => {
  test("stops each attack, and nothing else does", async () => {
    const fenced = await startCodeMode("isolate/app.testing.ts", environment);
    for (const each of fence.attacks) {
      const outcome = await attack(fenced, each);
      expect(outcome.status, each.name).toBe(200);
      expect(outcome.text, each.name).not.toContain(SECRET);
      expect(each.wins(outcome), `${each.name}: ${outcome.text.slice(0, 500)}`).toBe(false);
    }
    const lost: string[] = [];
    const open = await start(fence);
    for (const each of fence.attacks) {
      const outcome = await attack(open, each);
      if (!each.wins(outcome)) lost.push(`${each.name}: ${outcome.text.slice(0, 300)}`);
    }
    expect(lost).toEqual([]);
  }, 120_000);
});

test("hostile arguments reach only the route of the call, as the caller", async () => {
  const app = await startCodeMode("isolate/app.testing.ts", environment);
  for (const place of places) {
    for (const input of hostileValues) {
      const outcome = await attack(app, { code: `await ${place}`, input });
      const name = `${place} ${JSON.stringify(input).slice(0, 100)}`;
      expect(outcome.status, name).toBe(200);
      expect(outcome.text, name).not.toContain(SECRET);
      expect(outcome.polluted, name).toBe(false);
      for (const { route, path, user, headers } of outcome.seen) {
        expect(place, name).toContain(`api.${route}(`);
        expect(user).toBe("ada");
        expect(path).not.toMatch(/[?#\s]|\/\.\.?(?:\/|$)/);
        expect(headers["authorization"]).toBe("Bearer token-of-ada");
        expect(headers["x-tenant"]).toBe("ada");
        const allowed = ["authorization", "x-tenant", "accept", "content-type"];
        expect(Object.keys(headers).filter((each) => !allowed.includes(each))).toEqual([]);
      }
    }
  }
}, 120_000);
