// Sends bytes over TCP, and reads the answer.
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A connection whose answers are parsed by hand. */
export class Connection {
  #socket;
  #received = [];
  #wake = () => {};
  closed = false;

  static async open(host, port) {
    const connection = new Connection();
    const socket = connect({ host, port, noDelay: true, allowHalfOpen: true });
    connection.#socket = socket;
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const end = () => {
      connection.closed = true;
      connection.#wake();
    };
    socket.on("data", (data) => {
      connection.#received.push(data);
      connection.#wake();
    });
    socket.on("end", end).on("close", end).on("error", end);
    return connection;
  }

  send(bytes) {
    this.#socket.write(bytes);
  }

  /** Received bytes as text with one byte per character. */
  get received() {
    return Buffer.concat(this.#received).toString("latin1");
  }

  /** Discards the received bytes. */
  clear() {
    this.#received = [];
  }

  /** Waits until `isEnough(text)`, the server closes, or the timeout. Returns the last result of `isEnough`. */
  async until(isEnough, timeout) {
    const deadline = Date.now() + timeout;
    for (;;) {
      if (isEnough(this.received)) return true;
      const left = deadline - Date.now();
      if (this.closed || left <= 0) return false;
      const timer = new AbortController();
      await Promise.race([
        new Promise((resolve) => {
          this.#wake = resolve;
        }),
        delay(left, undefined, { signal: timer.signal }).catch(() => {}),
      ]);
      timer.abort();
    }
  }

  close() {
    this.#socket.destroy();
  }
}

/** Sends bytes, and reads until the server closes or nothing has arrived for `quiet` ms. */
export async function exchange({ host, port }, bytes, quiet = 300) {
  const connection = await Connection.open(host, port);
  connection.send(bytes);
  let before;
  do {
    before = connection.received.length;
    await connection.until((text) => text.length > before, quiet);
  } while (!connection.closed && connection.received.length > before);
  const { received, closed } = connection;
  connection.close();
  return { answers: answers(received), received, closed };
}

/** Parses the answers in a text: status, headers by lower-case name, body. Leaves answers with status 100 out. */
export function answers(text) {
  const found = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\r\n\r\n", at);
    const line = /^HTTP\/1\.[01] (\d{3})[^\r]*/.exec(text.slice(at, at + 200));
    if (line === null || end < 0) return found;
    const headers = {};
    for (const field of text.slice(at, end).split("\r\n").slice(1)) {
      const colon = field.indexOf(":");
      headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
    }
    const status = Number(line[1]);
    const length = status === 204 || status === 304 || status < 200 ? 0 : Number(headers["content-length"] ?? 0);
    if (status >= 200) found.push({ status, headers, body: text.slice(end + 4, end + 4 + length) });
    at = end + 4 + length;
  }
  return found;
}
