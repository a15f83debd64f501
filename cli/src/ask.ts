/** One request over HTTP to a sidecar or a server of this machine, at a Unix socket or a port. */
import { request } from "node:http";
import { TenonError } from "./errors.ts";

/** The longest answer that is read. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** A request. */
export interface Question {
  /** `unix:///run/db.sock` or `http://host:port`. */
  readonly address: string;
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly json?: object;
  /** The bearer token. */
  readonly token?: string | undefined;
  readonly timeoutMs: number;
}

/** An answer, whatever its status is. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends a request, and returns the answer.
 *
 * @throws TenonError `USAGE` for an invalid address
 * @throws Error when no answer comes in time
 */
export async function ask(question: Question): Promise<Reply> {
  const { address, method, path, json, token, timeoutMs } = question;
  const where = placeOf(address);
  const body = json === undefined ? "" : JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const headers = {
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...(json === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const signal = AbortSignal.timeout(timeoutMs);
    const outgoing = request({ ...where, method, path, headers, agent: false, signal });
    outgoing.once("error", (error) => reject(signal.aborted ? new Error(`no answer within ${timeoutMs} ms`) : error));
    outgoing.once("response", (incoming) => {
      const pieces: Buffer[] = [];
      let length = 0;
      incoming.on("data", (piece: Buffer) => {
        length += piece.length;
        if (length > MAX_ANSWER_BYTES) outgoing.destroy(new Error("its answer is too large"));
        else pieces.push(piece);
      });
      incoming.once("error", reject);
      incoming.once("end", () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(pieces).toString("utf8") }),
      );
    });
    outgoing.end(body);
  });
}

/** The sentence of a problem document, or the status of another answer. */
export function detailOf({ status, text }: Reply): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    if (typeof detail === "string") return detail;
  } catch {
    // Not JSON.
  }
  return `it answered ${status}`;
}

function placeOf(address: string): { socketPath: string; host: string } | { host: string; port: string } {
  if (/^unix:\/\/\/./s.test(address)) {
    if (process.platform === "win32") {
      const reason = `\`${address}\` is a Unix socket, which Tenon does not have on Windows`;
      throw new TenonError("USAGE", reason, "write http://127.0.0.1:7001");
    }
    return { socketPath: address.slice("unix://".length), host: "service.sidecar.internal" };
  }
  const { protocol = "", hostname = "", port = "" } = URL.canParse(address) ? new URL(address) : {};
  if (protocol === "http:") return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? "80" : port };
  throw new TenonError(
    "USAGE",
    `\`${address}\` is not an address`,
    "write unix:///run/db.sock or http://127.0.0.1:7001",
  );
}
