// Node's own tests (test/parallel/test-http-*) whose clients send raw bytes. Each such connection is sent to this
// server and to an HTTP server of the running Node. Both must accept the same number of requests, or refuse.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { root } from "../../setup.mjs";
import { exchange } from "../raw.mjs";
import { prefix, start } from "../server.mjs";

/** Statuses for malformed requests. */
const refusals = new Set([400, 408, 413, 414, 431, 501, 505]);

export async function* run(checkout, only) {
  const folder = join(checkout, "test/parallel");
  const server = await start();
  const node = await listening();
  try {
    for (const file of readdirSync(folder).filter((name) => /^test-http-.*\.js$/.test(name))) {
      const source = readFileSync(join(folder, file), "utf8");
      if (!/net\.(connect|createConnection)|net\.Socket/.test(source)) continue;
      // It floods the server with 10,000 requests to test memory, not the requests themselves.
      if (file === "test-http-pipeline-requests-connection-leak.js") continue;
      const seen = new Set();
      for (const bytes of record(join(folder, file))) {
        // A client without a head uses another protocol, or waits for an answer first.
        if (!/HTTP\/\d/.test(bytes) || seen.has(bytes)) continue;
        seen.add(bytes);
        const id = `${file.slice("test-http-".length, -3)}${seen.size > 1 ? ` ${seen.size}` : ""}`;
        if (id.includes(only)) yield { id, ...(await check(server, node, bytes)) };
      }
    }
  } finally {
    node.close();
    node.closeAllConnections();
    await server.stop();
  }
}

function record(file) {
  const program = join(root, "scripts/conformance/node/record.mjs");
  const { stdout } = spawnSync(process.execPath, [program, file], {
    encoding: "utf8",
    timeout: 10_000,
    maxBuffer: 1 << 28,
  });
  return stdout === "" ? [] : JSON.parse(stdout);
}

/** Starts Node's server, which answers with the body that it read, like the fixture. */
async function listening() {
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => response.writeHead(200).end(Buffer.concat(pieces)));
    request.on("error", () => {});
  });
  server.on("upgrade", (_, socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

async function check(server, node, bytes) {
  const ours = bytes.replace(/^((?:\r\n)*[A-Z-]+ )\//, `$1${prefix}/`);
  const [mine, theirs] = await Promise.all([
    exchange(server, Buffer.from(ours, "latin1")),
    exchange({ host: "127.0.0.1", port: node.address().port }, Buffer.from(bytes, "latin1")),
  ]);
  const [a, b] = [outcome(mine), outcome(theirs)];
  return { verdict: a === b ? "pass" : "fail", note: `${a}; Node: ${b}; ${JSON.stringify(bytes.slice(0, 300))}` };
}

function outcome({ received }) {
  const statuses = [...received.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status));
  const taken = statuses.filter((status) => status >= 200 && !refusals.has(status)).length;
  return `${taken} taken${statuses.some((status) => refusals.has(status)) ? ", then refused" : ""}`;
}
