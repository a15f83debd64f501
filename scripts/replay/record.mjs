// Sends random requests to a server that records, until each has a recording or a reason for none.
import { Requests, send } from "./requests.mjs";
import { prepare, Server } from "./server.mjs";

/**
 * Records requests to components, which are the shop alone or all apps.
 *
 * @returns the server, which has ended; the requests; the answers by their apps and statuses; and the requests by their ids
 */
export async function record(folder, components, { count, seed, atOnce }) {
  prepare(folder, components);
  const server = new Server(folder);
  await server.start();
  const requests = new Requests(seed);
  const next = () => ("jobs" in components ? requests.next() : requests.shop());
  const statuses = new Map();
  const lines = new Map();
  let sent = 0;
  async function one(request) {
    const id = `sent-${sent++}`;
    const answer = await send(server.url, request, id);
    lines.set(id, `${request.module} ${request.method ?? "GET"} ${request.path} ${answer.status}`);
    requests.saw(answer);
    const key = `${request.module} ${answer.status}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
  }
  for (const request of requests.products(31)) await one(request);
  while (sent < count) {
    const end = Math.min(count, sent + 100);
    const work = async () => {
      while (sent < end) await one(next());
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    // Masking runs one request at a time, so that a generator is quicker than it.
    await server.catchUp(sent, 60);
  }
  await server.catchUp(sent);
  await server.stop();
  return { server, requests, statuses, lines, sent };
}
