/** Servers of the Model Context Protocol, and their clients. */
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import { type Kind, type Running, root, startTenon, startWasmtime, tenon } from "./servers.ts";

/** The key of the fixtures' tokens. */
export const key = "k".repeat(32);
const environment = { MCP_TEST_KEY: key, TENON_SECRET_KEY: key, TENON_SECRET_MCP_CONFIRM_KEY: key };

/** A server of a fixture's component. */
export interface McpServer extends Pick<Kind, "name" | "needs"> {
  start(): Promise<Running>;
}

/** Returns the folder of a fixture. */
export function fixture(name: string): string {
  return join(root, "cli/e2e/fixtures", name);
}

/** Builds a fixture. */
export function build(name: string): void {
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: fixture(name) });
  if (status !== 0) throw new Error(String(stderr));
}

/** Returns the paths of the sources in the module that was built last in a project, a line each. */
export async function sourcesOf(project: string): Promise<string> {
  const map = await readFile(join(project, `dist/${basename(project)}.wasm.map`), "utf8");
  return (JSON.parse(map) as { sources: string[] }).sources.join("\n");
}

/** Returns the servers of a fixture that was built. */
export function serversOf(name: string): readonly McpServer[] {
  return [
    { name: "tenon run", start: () => startTenon([`dist/${name}.wasm`], name, fixture(name), environment) },
    {
      name: "wasmtime serve",
      needs: "wasmtime",
      start: () => startWasmtime(join(fixture(name), `dist/${name}-composed.wasm`), environment),
    },
  ];
}

/** Returns the URL of a server, with the name of this computer. */
export function urlOf({ base }: Running): URL {
  return new URL(`${base.replace("127.0.0.1", "localhost")}/mcp`);
}

/** Signs a token that the fixtures accept. */
export function token(sub: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256" })}.${part({ sub, iss: "https://id.example" })}`;
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

/** Connects a client of the earlier revisions until the test ends. */
export async function connect(url: URL, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  // The types of the package are written without exactOptionalPropertyTypes.
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never);
  return client;
}
