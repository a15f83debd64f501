// An Express app that answers /run/* with WebAssembly modules: node src/main.js <component>…
import express from "express";
import { Runtime } from "tenon";

const runtime = await Runtime.create({ modules: process.argv.slice(2) });
const app = express();

app.get("/", (_, response) => {
  response.json({ modules: runtime.modules });
});

// Express leaves the path unchanged here, so modules get the same URL as on `tenon run`.
app.use(async (request, response, next) => {
  if (!request.url.startsWith("/run/")) return next();
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  const headers = Object.entries(request.headersDistinct).flatMap(([name, values]) =>
    values.filter(() => !hopByHop.has(name)).map((value) => [name, value]),
  );
  const answer = await runtime.fetch(
    new Request(new URL(request.url, `http://${request.headers.host}`), {
      method: request.method,
      headers,
      // A body that is too large is not read to its end, and the connection must survive that.
      ...(hasBody ? { body: request.iterator({ destroyOnReturn: false }), duplex: "half" } : {}),
    }),
  );
  request.resume();
  response.status(answer.status);
  for (const [name, value] of answer.headers) response.append(name, value);
  response.end(Buffer.from(await answer.arrayBuffer()));
});

/** Headers of the connection instead of the request (RFC 9110, section 7.6.1). Fetch refuses them. */
const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "expect"]);

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});

process.once("SIGTERM", async () => {
  server.close();
  server.closeIdleConnections();
  await runtime.close();
});
