/** Tools of the Model Context Protocol: the protocol's own conformance suite, and its clients, on real servers. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { conform, passedIn } from "./mcp-conformance.ts";
import { build, connect, fixture, key, serversOf, sourcesOf, token, urlOf } from "./mcp-servers.ts";
import { helloProject, type Running, tenon } from "./servers.ts";

const project = fixture("mcp");

beforeAll(() => build("mcp"));

/**
 * The scenarios of the suite that a server of tools must pass. docs/conformance.md has the reasons of the others: they
 * are about prompts, resources, completions, logging, sampling and elicitation, and about tools with several contents.
 */
const scenarios = [
  "server-initialize",
  "ping",
  "tools-list",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-error",
  "tools-call-with-progress",
  "json-schema-2020-12",
  "dns-rebinding-protection",
];

describeEach("$name", serversOf("mcp"), ({ start }) => {
  let running: Running;
  let url: URL;
  beforeAll(async () => {
    running = await start();
    url = urlOf(running);
  });
  afterAll(() => running?.stop());

  test("passes the scenarios of the conformance suite that apply", async () => {
    const summary = await conform(url.href);
    expect(passedIn(summary), summary).toEqual(scenarios);
  });

  test("the client of the earlier revisions lists and calls tools", async () => {
    const client = await connect(url);
    expect(client.getServerVersion()).toMatchObject({ name: "mcp", version: "1.2.3" });
    expect(client.getInstructions()).toBe("Routes that are tools, for the tests of the protocol");
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "notes_list")).toMatchObject({
      title: "Notes: list",
      description: "Lists the notes.\n\nThe newest is the last.",
      annotations: { readOnlyHint: true },
    });
    const found = await client.callTool({ name: "notes_find", arguments: { id: 1 } });
    expect(found.structuredContent).toEqual({ id: 1, text: "Write the page", done: false });
    const missing = await client.callTool({ name: "notes_find", arguments: { id: 2 } });
    expect(missing.isError).toBe(true);
    expect(missing.content).toMatchObject([{ text: expect.stringContaining("there is no such note") }]);
    await expect(client.callTool({ name: "no_such_tool" })).rejects.toThrow("Unknown tool: no_such_tool");
  });

  test("the caller's token reaches the route, and its lack is a challenge", async () => {
    const client = await connect(url, { authorization: `Bearer ${token("Ada")}` });
    expect((await client.callTool({ name: "whoAmI" })).structuredContent).toEqual({ name: "Ada" });
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoAmI" } };
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
    expect(answer.status).toBe(401);
    const [, metadata] = /resource_metadata="([^"]+)"/.exec(answer.headers.get("www-authenticate") ?? "") ?? [];
    expect(await (await fetch(metadata as string)).json()).toMatchObject({
      resource: url.href,
      authorization_servers: ["https://id.example"],
    });
  });

  test("the client of the stateless revision lists and calls tools", async () => {
    const client = new CurrentClient({ name: "test", version: "1" }, {
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    } as never);
    onTestFinished(() => client.close());
    await client.connect(new CurrentTransport(url) as never);
    expect(client.getServerVersion()).toMatchObject({ name: "mcp" });
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === "notes_list")).toMatchObject({ outputSchema: { type: "array" } });
    const listed = await client.callTool({ name: "notes_list", arguments: {} });
    expect(listed.structuredContent).toEqual([{ id: 1, text: "Write the page", done: false }]);
    const refused = await client.callTool({ name: "notes_add", arguments: { text: "a".repeat(101) } });
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { errors: [{ pointer: "#/text", code: "max" }] },
    });
    const added = await client.callTool({ name: "notes_add", arguments: { text: "Read it" } });
    expect(added.structuredContent).toEqual({ id: 2, text: "Read it", done: false });
  });

  test("each call has an instance of its own, and the calls of a batch share one", async () => {
    const call = (id: number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "count" } });
    const ask = async (message: unknown) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
      return (await answer.json()) as { readonly result: { readonly structuredContent: unknown } };
    };
    for (let n = 0; n < 3; n++) expect((await ask(call(n))).result.structuredContent).toEqual({ calls: 1 });
    expect(await ask([call(1), call(2)])).toMatchObject([
      { result: { structuredContent: { calls: 1 } } },
      { result: { structuredContent: { calls: 2 } } },
    ]);
  });
});

describe("tenon mcp", () => {
  test("serves the tools of a project on standard input and output", async () => {
    const client = new Client({ name: "test", version: "1" });
    onTestFinished(() => client.close());
    const args = [tenon, "mcp", "--project", project, "--header", "authorization: Bearer env:TOKEN"];
    // The key is in the file of development, as a client has no variables of the project.
    const file = join(project, ".env");
    await writeFile(file, `MCP_TEST_KEY=${key}\n`);
    onTestFinished(() => rm(file));
    const env = { ...process.env, TOKEN: token("Ada") } as Record<string, string>;
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
    expect((await client.listTools()).tools.length).toBeGreaterThan(10);
    expect((await client.callTool({ name: "whoAmI" })).structuredContent).toEqual({ name: "Ada" });
    const progress: unknown[] = [];
    const options = { onprogress: (each: unknown) => progress.push(each) };
    await client.callTool({ name: "test_tool_with_progress" }, undefined, options);
    expect(progress.length).toBeGreaterThanOrEqual(3);
  });
});

describe("an app without the option", () => {
  test("has no code of it", async () => {
    expect(await sourcesOf(project)).toMatch(/\/mcp\//);
    expect(await sourcesOf(helloProject)).not.toMatch(/\/mcp\//);
  });
});
