/** Streamed calls in the engine: the native functions, and their event loop. */
import { expect, test } from "vitest";
import { type Host, startEngine } from "../../../guest/testing/engine.ts";

const engine = new URL("../engine.wasm", import.meta.url);
const bytes = (text: string) => new TextEncoder().encode(text);

/** Runs statements of a handler, and returns what they return as JSON. */
function run(statements: string, host: Host, requests = 1): unknown[] {
  const source = `
    import { cancelStream, readStream, startStream, streamHead, streamRoom, utf8Decode, utf8Encode, writeStream } from "tenon:engine";
    const call = { method: "PUT", url: "http://a/", headers: [], body: undefined, timeoutMs: 0, maxBytes: 0 };
    const text = (piece) => piece instanceof Uint8Array ? utf8Decode(piece) : (piece ?? "end");
    const kept = {};
    const handle = async () => { ${statements} };
    export const handler = {
      handle: async () => {
        const body = utf8Encode(JSON.stringify(await handle().catch(String)));
        return { status: 200, headers: [], body };
      },
    };`;
  const started = startEngine(engine, source, host);
  return Array.from({ length: requests }, () => JSON.parse(new TextDecoder().decode(started.handle({}).body)));
}

const answer = (...pieces: (string | number)[]) => ({
  status: 200,
  headers: [],
  body: bytes("first"),
  pieces: pieces.map((piece) => (piece === "later" || typeof piece === "number" ? piece : bytes(piece))),
});

test("a response is read piece by piece, and waits are served with timers", () => {
  const statements = `
    const stream = startStream(call, false);
    const { status, body } = await streamHead(stream);
    const told = [status, text(body)];
    setTimeout(() => told.push("timer"), 0);
    for (let piece = ""; piece !== "end"; told.push(piece)) piece = text(await readStream(stream));
    return [...told, text(await readStream(stream)).detail];`;
  const call = () => answer("a", "later", "b");
  expect(run(statements, { call })).toEqual([[200, "first", "a", "timer", "b", "end", "the host has ended the call"]]);
});

test("a request is written as fast as the host accepts it", () => {
  const written: (string | undefined)[] = [];
  const statements = `
    const stream = startStream(call, true);
    const head = streamHead(stream);
    const piece = utf8Encode("abcdef");
    for (let at = 0; at < piece.length;) {
      at += writeStream(stream, piece.subarray(at));
      if (at < piece.length) await streamRoom(stream);
    }
    return [writeStream(stream, undefined), (await head).status];`;
  const write = (piece: Uint8Array | undefined) => {
    const accepted = piece?.subarray(0, 4);
    written.push(accepted && new TextDecoder().decode(accepted));
    return accepted?.length ?? 0;
  };
  expect(run(statements, { write, call: () => answer() })).toEqual([[0, 200]]);
  expect(written).toEqual(["abcd", "ef", undefined]);
});

test("failures of heads and of pieces have their reasons", () => {
  const statements = `
    const [one, other] = [startStream(call, false), startStream(call, false)];
    const failed = await streamHead(one);
    await streamHead(other);
    return [failed, text(await readStream(other)), await readStream(other), writeStream(one, utf8Encode("a")) ?? null];`;
  const outcomes = [2, answer("a", 5)];
  expect(run(statements, { call: () => outcomes.shift() ?? 0 })).toEqual([
    [{ reason: 2, detail: "reason 2" }, "a", { reason: 5, detail: "reason 5" }, null],
  ]);
});

test("a call that is cancelled settles what waits for it", () => {
  const cancelled: number[] = [];
  const statements = `
    const stream = startStream(call, true);
    await streamHead(stream);
    const waiting = [readStream(stream), streamRoom(stream)];
    cancelStream(stream);
    const [piece, room] = await Promise.all(waiting);
    cancelStream(stream);
    return [piece.detail, room ?? null, writeStream(stream, utf8Encode("a")) ?? null];`;
  const host = { call: () => answer("later"), write: () => 0, cancelled: (call: number) => cancelled.push(call) };
  expect(run(statements, host)).toEqual([["the host has ended the call", null, null]]);
  expect(cancelled).toEqual([1]);
});

test("a handle of an earlier request reads no stream of a later one", () => {
  const cancelled: number[] = [];
  const statements = `
    const before = kept.stream;
    kept.stream = startStream(call, false);
    await streamHead(kept.stream);
    return before ? [(await readStream(before)).detail, text(await readStream(kept.stream))] : [];`;
  const host = { call: () => answer("own", "more"), cancelled: (call: number) => cancelled.push(call) };
  expect(run(statements, host, 2)).toEqual([[], ["the host has ended the call", "own"]]);
  expect(cancelled).toEqual([1]);
});

test("a thousand streams are served at once", () => {
  const statements = `
    const one = async () => {
      const stream = startStream(call, false);
      await streamHead(stream);
      let length = 0;
      for (let piece; (piece = await readStream(stream)) !== undefined;) length += piece.length;
      return length;
    };
    const lengths = await Promise.all(Array.from({ length: 1000 }, one));
    return [lengths.length, new Set(lengths).size, lengths[0]];`;
  const call = () => answer("a", "later", "bc", "later");
  expect(run(statements, { call })).toEqual([[1000, 1, 3]]);
});
