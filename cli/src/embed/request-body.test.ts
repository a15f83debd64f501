import { expect, test } from "vitest";
import { beginBody, sendBody } from "./request-body.ts";

const begin = (body: RequestInit["body"]) =>
  beginBody(new Request("http://tenon.test", { method: "POST", body, duplex: "half" } as RequestInit));

/** A body of pieces of so many bytes, and what becomes of it. */
function pieces(count: number, size: number, waits = false) {
  const seen = { pulled: 0, cancelled: undefined as unknown };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (waits) await new Promise((resolve) => setTimeout(resolve, 1));
        if (seen.pulled === count) return controller.close();
        seen.pulled++;
        return controller.enqueue(new Uint8Array(size).fill(seen.pulled));
      },
      cancel(reason) {
        seen.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

/** Sends the rest of a body, of which `room` pieces are taken. */
async function sent(body: Awaited<ReturnType<typeof begin>>, room = Number.POSITIVE_INFINITY): Promise<Buffer> {
  if (Buffer.isBuffer(body)) throw new Error("the body is whole");
  const taken: Uint8Array[] = [];
  await sendBody(body, async (piece) => {
    expect(piece.length).toBeLessThanOrEqual(256 * 1024);
    taken.push(piece);
    return taken.length < room;
  });
  return Buffer.concat(taken);
}

test.each([0, 1, 2, 50])("%i pieces that are there are one body", async (count) => {
  const { body } = pieces(count, 1000);
  const whole = (await begin(body)) as Buffer;
  expect(whole.length).toBe(count * 1000);
  for (let piece = 0; piece < count; piece++) expect(whole[piece * 1000]).toBe(piece + 1);
});

test("a body beyond 256 KiB, and one that has to be waited for, is sent piece by piece", async () => {
  const { body, seen } = pieces(10, 100_000);
  const large = await begin(body);
  expect(seen.pulled).toBe(3);
  expect((await sent(large)).length).toBe(1_000_000);
  const later = await sent(await begin(pieces(3, 5, true).body));
  expect([...later]).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]);
  const one = await sent(await begin(new Uint8Array(3_000_000).fill(7)));
  expect([one.length, one[2_999_999]]).toEqual([3_000_000, 7]);
});

test("no more is read than is taken", async () => {
  const { body, seen } = pieces(1_000, 100_000);
  expect((await sent(await begin(body), 5)).length).toBe(500_000);
  expect(seen.pulled).toBe(5);
});

test.each([
  ["", 0],
  ["x", 1],
  ["Gr\u00fc\u00dfe", 7],
])("%j", async (text, length) => {
  const body = (await begin(text)) as Buffer;
  expect([body.toString(), body.length]).toEqual([text, length]);
});

test("a part of a larger buffer", async () => {
  const buffer = Buffer.from("-part-");
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(buffer.subarray(1, 5));
      controller.close();
    },
  });
  expect(((await begin(body)) as Buffer).toString()).toBe("part");
});
