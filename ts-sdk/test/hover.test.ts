/** Checks an editor's hover texts of a handler's parts: they show the types, and not their derivation. */
import { spawn } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
// An unsaved file of an editor, which is not on disk.
const uri = pathToFileURL(fileURLToPath(new URL("unsaved.ts", import.meta.url))).href;
const text = `import { bearer, extend, field, get, group, type Infer, list, middleware, ok, omit, oneOf, Path, partial, pick, Query, record, routes, Type, use } from "@tenon/sdk";
import { client } from "@tenon/sdk/client";
const User = Type("User", { id: field.u32(), role: field.enum("a", "b"), tags: list(field.string()).optional() });
const Page = Query("Page", { page: field.u32({ default: 1 }) });
const UserId = Path("UserId", { id: field.u32() });
type Someone = Infer<typeof User>;
const route = get("/users/{id}", { path: UserId, query: Page, body: User, response: User }, (input) => {
  const { body } = input;
  return ok(body);
});
const level = field.enum("low", "high", { default: "low" });
const app = routes({ route });
const Shape = oneOf("kind", { circle: Type("Circle", { radius: field.f64() }), square: Type("Square", { side: field.f64() }) });
const Patch = partial(User);
const Some = pick(User, ["id"]);
const Rest = omit(User, ["role", "tags"]);
const More = extend(Some, "More", { note: field.string().nullable() });
const counts = record(field.u32());
const inlined = get("/users/{id}", { path: { id: field.u32() }, query: { q: field.string().optional() } }, (given) => ok(given));
const signedIn = bearer(async (token) => (token === "" ? undefined : { name: token }));
const inTenant = middleware<{ tenant: number }, { user: { name: string } }>((_req, next) => next({ tenant: 1 }));
const kit = use(signedIn, inTenant);
const mine = kit.get("/me", { response: Some }, (_in, _req, merged) => ok({ id: merged.tenant }));
const folder = group("/users", { mine, deeper: group("/in", { mine }) });
const grouped = routes({ folder }, { prefix: "/v1" });
const api = client<typeof grouped>("https://host.example");
const called = await api.folder.mine();
const sent = called.ok ? called.data : undefined;
`;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly contents?: string | { readonly value: string } } | null;
}

/** A language server, with the requests that hovering needs. */
function languageServer() {
  const server = spawn(process.execPath, [tsc, "--lsp", "--stdio"], { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map<number, (message: Message) => void>();
  const send = (message: object) => {
    const json = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
  };
  let received = Buffer.alloc(0);
  server.stdout.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const head = received.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(received.toString("latin1"))?.[1]);
      if (head < 0 || received.length < head + 4 + length) return;
      const message: Message = JSON.parse(received.toString("utf8", head + 4, head + 4 + length));
      received = received.subarray(head + 4 + length);
      if (message.id === undefined) continue;
      if (message.method !== undefined) send({ id: message.id, result: null });
      else waiting.get(message.id)?.(message);
    }
  });
  return {
    notify: (method: string, params: object) => send({ method, params }),
    ask: (method: string, params: object) =>
      new Promise<Message>((answered) => {
        const id = waiting.size + 1;
        waiting.set(id, answered);
        send({ id, method, params });
      }),
    stop: () => server.kill(),
  };
}

const server = languageServer();
beforeAll(async () => {
  const hover = { contentFormat: ["plaintext"] };
  await server.ask("initialize", { processId: process.pid, rootUri: null, capabilities: { textDocument: { hover } } });
  server.notify("initialized", {});
  server.notify("textDocument/didOpen", { textDocument: { uri, languageId: "typescript", version: 1, text } });
});
afterAll(() => server.stop());

async function hover(over: string): Promise<string | undefined> {
  const lines = text.split("\n");
  const line = lines.findIndex((one) => one.includes(over));
  const position = { line, character: lines[line]?.indexOf(over) };
  const { result } = await server.ask("textDocument/hover", { textDocument: { uri }, position });
  const contents = result?.contents;
  return (typeof contents === "string" ? contents : contents?.value)?.replace(/\s+/g, " ").trim();
}

/** The members of a text, sorted, because the type checker has its own order. */
const members = (shown = "") => shown.split(/\s*[{};]\s*/).sort();

const route = `Route<"/users/{id}", { readonly path: PathSchema<{ id: number; }>; readonly query: QuerySchema<{ page: number; }, "page">; readonly body: TypeSchema<USER, "required", never>; readonly response: TypeSchema<USER, "required", never>; }, unknown>`;
const mine = `{ mine: Route<"/me", { readonly response: TypeSchema<{ id: number; }, "required", never>; }, unknown>;`;
const folder = `${mine} deeper: Group<${mine} }, unknown, unknown>; }`;
const result = `Result<{ readonly response: TypeSchema<{ id: number; }, "required", never>; }>`;
const user = `{ tags?: string[] | undefined; id: number; role: "a" | "b"; }`;
it.each([
  ["User =", `const User: TypeSchema<${user}, "required", never>`],
  ["Page =", 'const Page: QuerySchema<{ page: number; }, "page">'],
  ["UserId =", "const UserId: PathSchema<{ id: number; }>"],
  ["Someone =", `type Someone = ${user}`],
  ["input)", `(parameter) input: { path: { id: number; }; query: { page: number; }; body: ${user}; }`],
  ["body }", `const body: ${user}`],
  ["route =", `const route: ${route.replaceAll("USER", user)}`],
  ["level =", `const level: EnumSchema<"high" | "low", "default">`],
  ["app =", `const app: App<{ route: ${route.replaceAll("USER", user)}; }>`],
  [
    "Shape =",
    'const Shape: UnionSchema<{ kind: "circle"; radius: number; } | { kind: "square"; side: number; }, "required">',
  ],
  [
    "Patch =",
    `const Patch: TypeSchema<{ tags?: string[] | undefined; id?: number | undefined; role?: "a" | "b" | undefined; }, "required", never>`,
  ],
  ["Some =", 'const Some: TypeSchema<{ id: number; }, "required", never>'],
  ["Rest =", 'const Rest: TypeSchema<{ id: number; }, "required", never>'],
  ["More =", 'const More: TypeSchema<{ id: number; note: string | null; }, "required", never>'],
  ["counts =", 'const counts: RecordSchema<number, "required">'],
  ["signedIn =", "const signedIn: Middleware<WithUser<{ name: string; }>, Empty>"],
  ["inTenant =", "const inTenant: Middleware<{ tenant: number; }, { user: { name: string; }; }>"],
  ["kit =", "const kit: Kit<{ user: { name: string; }; tenant: number; }>"],
  ["merged)", "(parameter) merged: { user: { name: string; }; tenant: number; }"],
  ["folder =", `const folder: Group<${folder}, unknown, unknown>`],
  ["grouped =", `const grouped: App<{ folder: Group<${folder}, unknown, unknown>; }>`],
  ["api =", `const api: CallsOf<{ folder: Group<${folder}, unknown, unknown>; }, unknown>`],
  ["mine();", `(property) mine: (input?: { readonly headers?: HeadersInput; } | undefined) => Promise<${result}>`],
  ["called =", `const called: ${result}`],
  ["sent =", "const sent: { id: number; } | undefined"],
  ["given)", "(parameter) given: { path: { id: number; }; query: { q?: string | undefined; }; }"],
])("%s", async (over, shown) => {
  expect(members(await hover(over))).toEqual(members(shown));
});
