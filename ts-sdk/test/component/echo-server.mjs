// A server on a thread of its own, because a component that runs through jco blocks the calling thread while it waits.
import { createServer } from "node:http";
import { parentPort } from "node:worker_threads";

const server = createServer(async (request, response) => {
  if (request.url === "/never") return;
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  response.writeHead(201, { "x-b": ["1", "2"] });
  if (request.url === "/large") response.end("x".repeat(5000));
  else response.end(`${request.method} ${request.headers["x-a"]} ${Buffer.concat(chunks)}`);
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
