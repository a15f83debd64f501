// A client that sends a number of requests over a few connections and takes little time itself.
import { connect } from "node:net";

/**
 * Sends requests and waits for their answers, one at a time on each connection.
 *
 * @returns the time in milliseconds
 * @throws when an answer is not 200, or when nothing comes for 10 s
 */
export async function load(url, { count, connections = 4, method = "GET", body = "" }) {
  const { hostname, port, pathname, host } = new URL(url);
  const length = body === "" ? "" : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  const request = Buffer.from(`${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${length}\r\n${body}`);
  let left = count;
  const begun = performance.now();
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      let rest = Buffer.alloc(0);
      const send = () => {
        if (left === 0) {
          socket.destroy();
          resolve();
          return;
        }
        left--;
        socket.write(request);
      };
      socket.setTimeout(10_000, () => socket.destroy(new Error(`${url}: no answer in 10 s`)));
      socket.once("connect", send).once("error", reject);
      socket.once("end", () => reject(new Error(`${url}: the server has closed the connection`)));
      socket.on("data", (data) => {
        rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
        const end = rest.indexOf("\r\n\r\n");
        if (end < 0) return;
        const head = rest.toString("latin1", 0, end);
        const [, size] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
        if (!head.startsWith("HTTP/1.1 200 ") || size === undefined) {
          socket.destroy(new Error(`${url}: ${head.split("\r\n")[0]}`));
          return;
        }
        if (rest.length < end + 4 + Number(size)) return;
        rest = Buffer.alloc(0);
        send();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  return performance.now() - begun;
}
