/**
 * Calls of a tool a second: `tenon run`, an instance for each call, beside Hono with @hono/mcp on Node, in one run. In code mode the same
 * route is called by a program of `execute`.
 *
 *     npm run build && node bench/mcp/run.mjs [--seconds 5] [--connections 16]
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "5" }, connections: { type: "string", default: "16" } },
});
const here = fileURLToPath(new URL(".", import.meta.url));
const tenon = fileURLToPath(new URL("../../cli/bin/tenon.js", import.meta.url));
const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add", arguments: { a: 1, b: 2 } } };
const code = "export default async () => (await api.add({ body: { a: 1, b: 2 } })).data";
const program = { ...message, params: { name: "execute", arguments: { code } } };

for (const cwd of [here, `${here}code`]) spawnSync(process.execPath, [tenon, "build", "-r"], { cwd, stdio: "inherit" });
const servers = {
  tenon: { module: "tools", file: "dist/tools.wasm", body: JSON.stringify(message) },
  code: { module: "coded", file: "code/dist/coded.wasm", body: JSON.stringify(program) },
  peer: { body: JSON.stringify(message) },
};
const rates = {};
for (const [name, { module, file, body }] of Object.entries(servers)) {
  const args = file ? [tenon, "run", "--port", "0", "--json", "-q", file] : ["peer.mjs"];
  const child = spawn(process.execPath, args, {
    cwd: here,
    env: { ...process.env, TENON_SERVER_ACCESS_LOG: "false" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(child.stdout, "data");
  const { url } = JSON.parse(String(line).split("\n")[0]);
  const at = `${url}${module ? `/run/${module}` : ""}/mcp`;
  await load(at, body, 1);
  rates[name] = await load(at, body, Number(values.seconds));
  child.kill();
}
for (const [name, { rate, median }] of Object.entries(rates)) {
  console.log(`${name}: ${Math.round(rate)} calls/s, median ${median.toFixed(2)} ms`);
}
for (const name of ["tenon", "code"]) {
  console.log(`ratio of ${name} to peer: ${(rates[name].rate / rates.peer.rate).toFixed(2)}`);
}

async function load(url, body, seconds) {
  const agent = new Agent({ keepAlive: true, maxSockets: Number(values.connections) });
  const end = performance.now() + seconds * 1000;
  const times = [];
  const loop = async () => {
    while (performance.now() < end) {
      const begun = performance.now();
      const text = await post(url, body, agent);
      times.push(performance.now() - begun);
      if (!text.includes('"sum":3')) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: Number(values.connections) }, loop));
  agent.destroy();
  times.sort((a, b) => a - b);
  return { rate: times.length / seconds, median: times[times.length >> 1] };
}

function post(url, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(body),
    };
    const outgoing = request(url, { method: "POST", agent, headers }, (incoming) => {
      let text = "";
      incoming.on("data", (piece) => {
        text += piece;
      });
      incoming.on("end", () => resolve(text));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
