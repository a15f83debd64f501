/** Problem details (RFC 9457), also for a connection whose request has no response object. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

export const PROBLEM_TYPE = "application/problem+json";

/** The body of an error. */
export function problemOf(status: number, detail: string): object {
  return { type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail };
}

/** Writes an error to a connection without a response object, and closes the connection. */
export function endWithProblem(socket: Duplex, status: number, detail: string): void {
  const body = JSON.stringify(problemOf(status, detail));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `date: ${new Date().toUTCString()}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  // The client may have left.
  socket.on("error", () => {});
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
