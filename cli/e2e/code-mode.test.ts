/** Code mode of the Model Context Protocol on real servers: the protocol's suite, its clients, and programs. */
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentTransport,
} from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { conform, passedIn } from "./mcp-conformance.ts";
import { build, connect, fixture, serversOf, sourcesOf, token, urlOf } from "./mcp-servers.ts";
import type { Running } from "./servers.ts";

beforeAll(() => build("code-mode"));

/** The scenarios that need no tool of their own. */
const scenarios = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

/** The result of a program. */
interface Executed {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: { readonly kind: string; readonly limit?: string };
  readonly confirm?: { readonly calls: readonly unknown[]; readonly token: string };
}

describeEach("$name", serversOf("code-mode"), ({ start }) => {
  let running: Running;
  let url: URL;
  beforeAll(async () => {
    running = await start();
    url = urlOf(running);
  });
  afterAll(() => running?.stop());

  const execute = async (client: Client, code: string, more: object = {}) =>
    (await client.callTool({ name: "execute", arguments: { code, ...more } })).structuredContent as unknown as Executed;

  test("passes the scenarios of the conformance suite that apply", async () => {
    const summary = await conform(url.href);
    expect(passedIn(summary), summary).toEqual(expect.arrayContaining(scenarios));
  });

  test("the client lists two tools, searches, and runs programs", async () => {
    const client = await connect(url, { authorization: `Bearer ${token("Ada")}` });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "execute"]);
    const found = await client.callTool({ name: "search", arguments: { query: "add note" } });
    expect(JSON.stringify(found.content)).toContain("api.notes.add(input: { body: { text: string } })");
    expect(
      await execute(
        client,
        `export default async ({ text }: { text: string }) => {
          const added = await api.notes.add({ body: { text } });
          const [all, me, events] = await Promise.all([api.notes.list(), api.whoAmI(), api.events()]);
          return [added.status, all.data.length, me.data.name, events.data] as const;
        };`,
        { input: { text: "Read it" } },
      ),
    ).toMatchObject({ ok: true, value: [201, 2, "Ada", "one\ntwo"] });
    expect(await execute(client, "(await api.notes.add({ body: { text: 'a'.repeat(101) } })).problem")).toMatchObject({
      value: { status: 400, errors: [{ pointer: "#/text" }] },
    });
    await expect(client.callTool({ name: "notes_list" })).rejects.toThrow("Unknown tool: notes_list");
  });

  test("each program has an instance of its own, and those of a batch do not see one another", async () => {
    const client = await connect(url);
    for (let n = 0; n < 3; n++) {
      expect(
        await execute(client, "globalThis.n = (globalThis.n ?? 0) + 1; [n, (await api.count()).data.programs]"),
      ).toMatchObject({ value: [1, 1] });
    }
    const code = "globalThis.n = (globalThis.n ?? 0) + 1; [n, (await api.count()).data.programs]";
    const call = (id: number) => ({
      ...{ jsonrpc: "2.0", id, method: "tools/call" },
      params: { name: "execute", arguments: { code } },
    });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify([call(1), call(2)]) });
    expect(await answer.json()).toMatchObject([
      { result: { structuredContent: { value: [1, 1] } } },
      { result: { structuredContent: { value: [1, 2] } } },
    ]);
  });

  test("limits end a program, and the server goes on", async () => {
    const client = await connect(url);
    const limited = async (code: string) => (await execute(client, code)).error;
    expect(await limited("for (;;);")).toMatchObject({ kind: "limit", limit: "cpuMs" });
    expect(await limited("new ArrayBuffer(64 << 20)")).toMatchObject({
      limit: "memoryBytes",
    });
    expect(await limited("for (;;) await api.count()")).toMatchObject({ limit: "calls" });
    expect(await limited("const f = () => f(); f()")).toMatchObject({ kind: "thrown" });
    expect(await execute(client, "1 + 1")).toMatchObject({ value: 2 });
  }, 60_000);

  test("a call that needs it waits for a confirmation of the same caller", async () => {
    const client = await connect(url, { authorization: `Bearer ${token("Ada")}` });
    const code = "(await api.notes.remove({ path: { id: 1 } })).data";
    const { confirm } = await execute(client, code);
    expect(confirm?.calls).toMatchObject([{ name: "notes.remove", method: "DELETE", path: "/notes/1" }]);
    const other = await connect(url, { authorization: `Bearer ${token("Eve")}` });
    expect(await execute(other, code, { confirm: confirm?.token })).toMatchObject({ error: { kind: "confirm" } });
    expect(await execute(client, code, { confirm: confirm?.token })).toMatchObject({ value: { removed: 1 } });
  });

  test("a call that is 401 is a challenge", async () => {
    const message = {
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "execute", arguments: { code: "await api.whoAmI()" } },
    };
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toContain("resource_metadata=");
  });

  test("the client of the stateless revision runs programs", async () => {
    const client = new CurrentClient({ name: "test", version: "1" }, {
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    } as never);
    onTestFinished(() => client.close());
    await client.connect(new CurrentTransport(url) as never);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search", "execute"]);
    const done = await client.callTool({
      name: "execute",
      arguments: { code: "(await api.notes.list()).data[0].text" },
    });
    expect(done.structuredContent).toMatchObject({ ok: true, value: "Write the page" });
  });
});

test("an app without code mode has no code of it", async () => {
  build("mcp");
  const words = /isolate|code-mode|execute/;
  expect(await sourcesOf(fixture("code-mode"))).toMatch(words);
  expect(await sourcesOf(fixture("mcp"))).not.toMatch(words);
});
