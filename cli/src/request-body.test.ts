import { expect, test } from "vitest";
import { readBody } from "./request-body.ts";

const { signal } = new AbortController();
const read = (body: RequestInit["body"], maxBodyBytes: number) =>
  readBody(new Request("http://tenon.test", { method: "POST", body, duplex: "half" } as RequestInit), signal, {
    maxBodyBytes,
    bodyTimeoutMs: 10_000,
  });

/** A body of pieces of 1000 bytes, and its state. */
function pieces(count: number) {
  const seen = { pulled: 0, cancelled: undefined as unknown };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (seen.pulled === count) return controller.close();
      seen.pulled++;
      return controller.enqueue(new Uint8Array(1000).fill(seen.pulled));
    },
    cancel(reason) {
      seen.cancelled = reason;
    },
  });
  return { body, seen };
}

test.each([0, 1, 2, 50])("%i pieces within the limit are one body", async (count) => {
  const { body, seen } = pieces(count);
  const whole = await read(body, count * 1000);
  expect(whole.length).toBe(count * 1000);
  for (let piece = 0; piece < count; piece++) expect(whole[piece * 1000]).toBe(piece + 1);
  expect(seen.cancelled).toBeUndefined();
});

test("of a body beyond the limit one byte more is read, and its stream is cancelled", async () => {
  const { body, seen } = pieces(2_500);
  expect((await read(body, 2_500)).length).toBe(2_501);
  // One more may be pulled ahead.
  expect(seen.pulled).toBeLessThanOrEqual(4);
  expect(seen.cancelled).toMatchObject({ message: "the body is larger than 2500 bytes" });
  expect((await read(pieces(1).body, 999)).length).toBe(1000);
  expect((await read(new Uint8Array(5_000), 10)).length).toBe(11);
});

test.each([
  ["", 0],
  ["x", 1],
  ["Gr\u00fc\u00dfe", 7],
])("%j at its limit", async (text, length) => {
  expect((await read(text, length)).toString()).toBe(text);
});

test("a part of a larger buffer", async () => {
  const buffer = Buffer.from("-part-");
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(buffer.subarray(1, 5));
      controller.close();
    },
  });
  expect((await read(body, 4)).toString()).toBe("part");
});
