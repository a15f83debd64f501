// An Express app that answers /run/* with WebAssembly modules: node src/main.js <component>…
import express from "express";
import { Runtime } from "tenon";

const runtime = await Runtime.create({ modules: process.argv.slice(2) });
const app = express();

app.get("/", (_, response) => {
  response.json({ modules: runtime.modules });
});

// Express leaves the path unchanged here, so modules get the same URL as on `tenon run`.
app.use(runtime.handle);

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});

process.once("SIGTERM", async () => {
  server.close();
  server.closeIdleConnections();
  await runtime.close();
});
