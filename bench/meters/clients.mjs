// Sends requests of each kind in turn, so many at once, and ends: node clients.mjs <url> <count> <at once>
import { Agent, request } from "node:http";

const [url, count, atOnce] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(atOnce) });
const paths = ["plain", "row/1", "plain", "stream", "plain", "row/2", "plain", "row/3"];

/** Resolves when the answer has ended. */
function ask(path) {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/${path}`, { agent }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${path} is answered with ${answer.statusCode}`));
      answer.resume().once("end", resolve).once("error", reject);
    });
    asked.once("error", reject).end();
  });
}

let next = 0;
await Promise.all(
  Array.from({ length: Number(atOnce) }, async () => {
    while (next < Number(count)) await ask(paths[next++ % paths.length]);
  }),
);
agent.destroy();
