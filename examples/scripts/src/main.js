// Serves the shop: node src/main.js, then open the printed URL.
import { Runtime } from "tenon";
import { makeServer } from "./server.js";

const runtime = await Runtime.create({ modules: {} });
const server = await makeServer(runtime);
server.once("error", async ({ message }) => {
  process.stderr.write(`${message}\nPORT=3001 npm start listens on another port\n`);
  process.exitCode = 1;
  await runtime.close();
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});

process.once("SIGTERM", async () => {
  server.close();
  server.closeAllConnections();
  await runtime.close();
});
