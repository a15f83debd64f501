/** Answers to requests that Node's parser refuses. Node's own answers have no body. */
import { maxHeaderSize, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { endWithProblem } from "./problem.ts";

/** An error of Node's parser, or of its time limit for a request. */
interface ClientError extends Error {
  readonly code?: string;
  /** The parser's words, which repeat nothing of the request. */
  readonly reason?: string;
}

/** Answers malformed, overlong and late requests with problem details. */
export function answerMalformed(server: Server): void {
  const open = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on("request", ({ socket }, res) => {
    const responses = open.get(socket) ?? new Set();
    open.set(socket, responses.add(res));
    res.once("close", () => responses.delete(res));
  });
  server.on("clientError", (error: ClientError, socket) => {
    // Behind the head of another answer, this one would be a part of its body.
    const isAnswering = [...(open.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    if (socket.writable && !isAnswering) endWithProblem(socket, ...answerTo(error));
    else socket.end(() => socket.destroy());
  });
}

function answerTo({ code, reason }: ClientError): [status: number, detail: string] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [431, `The header of a request has at most ${maxHeaderSize} bytes.`];
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return [413, "The extensions of a chunk are too long."];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "The request took too long to arrive."];
    default:
      return [400, `The request cannot be read as HTTP/1.1${reason === undefined ? "" : `: ${reason}`}.`];
  }
}
