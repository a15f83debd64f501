// The tool of src/handler.ts on Node with Hono and @hono/mcp, without sessions. It prints its address.
import { StreamableHTTPTransport } from "@hono/mcp";
import { serve } from "@hono/node-server";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Hono } from "hono";
import { z } from "zod";

const app = new Hono();
app.post("/mcp", async (c) => {
  // A server serves one transport at a time, so each request has its own.
  const server = new McpServer({ name: "tools", version: "0.0.0" });
  server.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    ({ a, b }) => {
      const structuredContent = { sum: a + b };
      return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
    },
  );
  const transport = new StreamableHTTPTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await server.connect(transport);
  return transport.handleRequest(c);
});
serve({ fetch: app.fetch, port: 0 }, ({ port }) => console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` })));
