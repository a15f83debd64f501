/** The functions of `sdk:core/streams`, in the engine. */
import { expect, test } from "vitest";
import { type EngineResponse, startEngine } from "../../testing/engine.ts";

const file = new URL("../../../crates/engine/engine.wasm", import.meta.url);
const decode = ({ status, headers, body }: EngineResponse) => [
  status,
  headers.map(([name, value]) => `${name}: ${typeof value === "string" ? value : Buffer.from(value)}`),
  body && Buffer.from(body).toString(),
];
const log = "const log = []; const text = (body) => ({ status: 200, headers: [], body: new Uint8Array(body) });";

test("reach the bundle with what the host gives, and its answers come back", () => {
  const { streams } = startEngine(
    file,
    `${log}
    export const handler = { handle: () => ({ status: 200, headers: [] }) };
    export const streams = {
      takesBodies: () => true,
      begin: async ({ method, pathWithQuery, headers, body }) => {
        log.push(method, pathWithQuery, headers[0][0], typeof body);
        return { status: 100, headers: [[":body", new Uint8Array([119])]] };
      },
      piece: (bytes) => (bytes === undefined ? { status: 100, headers: [] } : text(bytes)),
      end: () => ({ status: 204, headers: [] }),
      broken: () => Promise.reject(new Error("it broke")),
      next: () => text(log.join(" ").split("").map((letter) => letter.charCodeAt(0))),
      cancel: async () => { log.push("cancelled"); },
    };`,
  );
  expect(streams.takesBodies()).toBe(true);
  expect(decode(streams.begin({ method: "PUT", path: "/a?b", headers: [["x", "1"]] }))).toEqual([
    100,
    [":body: w"],
    undefined,
  ]);
  expect(decode(streams.piece(undefined))).toEqual([100, [], undefined]);
  expect(decode(streams.piece(Buffer.from("bytes")))).toEqual([200, [], "bytes"]);
  expect(decode(streams.piece(new Uint8Array()))).toEqual([200, [], ""]);
  expect(decode(streams.end())).toEqual([204, [], undefined]);
  expect(streams.broken().status).toBe(500);
  streams.cancel();
  expect(decode(streams.next())).toEqual([200, [], "PUT /a?b x undefined cancelled"]);
});

test("continue timers and calls, which a new request ends", () => {
  const { handle, streams, printed } = startEngine(
    file,
    `${log}
    import { print } from "tenon:engine";
    const later = () => { setTimeout(() => log.push(1), 20); return { status: 200, headers: [] }; };
    const waits = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return text(log.splice(0));
    };
    export const handler = { handle: later };
    export const streams = { takesBodies: () => false, begin: later, next: waits, end: later };`,
    { now: 0 },
  );
  for (const start of [handle, streams.begin]) {
    start({});
    expect(streams.next().body).toHaveLength(1);
    start({});
    // Its timer is not the last request's.
    start({});
    expect(streams.next().body).toHaveLength(1);
  }
  expect(printed()).toBe("");
});

test("fail where the bundle has none, and trap where it does not cancel", () => {
  const plain = startEngine(file, "export const handler = { handle: () => ({ status: 200, headers: [] }) };");
  expect(plain.streams.takesBodies()).toBe(false);
  expect(plain.streams.next().status).toBe(500);
  const stuck = startEngine(
    file,
    `export const handler = { handle: () => ({ status: 200, headers: [] }) };
     export const streams = { cancel: () => new Promise(() => {}), next: () => new Promise(() => {}) };`,
  );
  expect(stuck.streams.next().status).toBe(504);
  expect(() => stuck.streams.cancel()).toThrow("unreachable");
});
