// The Hono app on Node, as the peer in bench/serve.
import { serve } from "@hono/node-server";
import app from "./hono/src/app.mjs";

const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
process.on("SIGTERM", () => server.close());
