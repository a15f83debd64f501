// HTTP calls that block their thread until the whole response is there, as the calls of the engine in Node's WebAssembly have to.
import { request } from "node:http";
import { fileURLToPath } from "node:url";
import {
  isMainThread,
  MessageChannel,
  parentPort,
  receiveMessageOnPort,
  Worker,
  workerData,
} from "node:worker_threads";

/** The reason of a failed call: the connection. */
const FAILED = 1;

/**
 * Starts a thread for the calls.
 *
 * @param {number} timeoutMs a response that takes longer fails; one that has begun ends there
 * @returns {(call: { method: string, path: string, headers: [string, Uint8Array | string][], body?: Uint8Array }) =>
 *   { status: number, headers: [string, string][], body: Uint8Array } | number} as `Host.call` of `guest/testing/engine.ts`
 */
export function callsAtOnce(timeoutMs) {
  const { port1, port2 } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const data = { port: port2, answered, timeoutMs };
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { calls: data }, transferList: [port2] });
  worker.unref();
  port1.unref();
  return (call) => {
    Atomics.store(answered, 0, 0);
    port1.postMessage(call);
    Atomics.wait(answered, 0, 0);
    return receiveMessageOnPort(port1).message;
  };
}

if (!isMainThread && parentPort && workerData?.calls) {
  const { port, answered, timeoutMs } = workerData.calls;
  port.on("message", async (call) => {
    const answer = await send(call, timeoutMs).catch(() => FAILED);
    port.postMessage(answer);
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
  });
}

function send({ method, path, headers, body }, timeoutMs) {
  return new Promise((resolve, reject) => {
    const given = headers.flatMap(([name, value]) => [name, Buffer.from(value).toString("latin1")]);
    const length =
      body && !headers.some(([name]) => name === "content-length") ? ["content-length", String(body.length)] : [];
    const host = headers.some(([name]) => name === "host") ? [] : ["host", new URL(path).host];
    const sent = request(path, { method, headers: [...host, ...given, ...length], agent: false });
    let cut = () => sent.destroy(new Error("it takes too long"));
    const timer = setTimeout(() => cut(), timeoutMs);
    sent.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.on("response", (response) => {
      const parts = [];
      const end = () => {
        clearTimeout(timer);
        const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
        const pairs = names.map((name, index) => [
          name.toLowerCase(),
          Buffer.from(response.rawHeaders[2 * index + 1], "latin1"),
        ]);
        resolve({ status: response.statusCode, headers: pairs, body: Buffer.concat(parts) });
      };
      response
        .on("data", (part) => parts.push(part))
        .on("error", reject)
        .on("end", end);
      cut = () => {
        end();
        sent.destroy();
      };
    });
    sent.end(body);
  });
}
