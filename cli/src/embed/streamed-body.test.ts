import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { streamedBody } from "./streamed-body.ts";

/** A source of these pieces, and the calls that it got. */
function sourceOf(...pieces: (string | Error | null)[]) {
  const asked: string[] = [];
  const source = {
    piece: async () => {
      asked.push("piece");
      const piece = pieces.shift() ?? null;
      if (piece instanceof Error) throw piece;
      return piece === null ? null : new Uint8Array(Buffer.from(piece));
    },
    end: () => void asked.push("end"),
  };
  return { source, asked, ended: () => void asked.push("ended") };
}

const read = async (reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }) => {
  const { done, value } = await reader.read();
  return done ? "done" : Buffer.from(value as Uint8Array).toString();
};

test("a piece is asked for when it is read, and the end is reported once", async () => {
  const { source, asked, ended } = sourceOf("a", "b", null);
  const reader = streamedBody(source, new AbortController().signal, ended).getReader();
  await Promise.resolve();
  expect(asked).toEqual([]);
  expect([await read(reader), asked.length]).toEqual(["a", 1]);
  expect([await read(reader), await read(reader), await read(reader)]).toEqual(["b", "done", "done"]);
  expect(asked).toEqual(["piece", "piece", "piece", "ended"]);
});

test("a reader that cancels ends the source", async () => {
  const { source, asked, ended } = sourceOf("a", "b");
  const reader = streamedBody(source, new AbortController().signal, ended).getReader();
  await read(reader);
  await reader.cancel();
  expect(asked).toEqual(["piece", "ended", "end"]);
});

test("an abort ends the source, with its reason for the reader; after the end it does nothing", async () => {
  const { source, asked, ended } = sourceOf("a", "b");
  const controller = new AbortController();
  const reader = streamedBody(source, controller.signal, ended).getReader();
  await read(reader);
  controller.abort(new Error("enough"));
  await expect(reader.read()).rejects.toThrow("enough");
  expect(asked).toEqual(["piece", "ended", "end"]);

  const whole = sourceOf(null);
  const late = new AbortController();
  const other = streamedBody(whole.source, late.signal, whole.ended).getReader();
  expect(await read(other)).toBe("done");
  late.abort();
  expect(whole.asked).toEqual(["piece", "ended"]);
});

test("what breaks the source off is what the reader gets", async () => {
  const { source, asked, ended } = sourceOf("a", new Error("broken"));
  const reader = streamedBody(source, new AbortController().signal, ended).getReader();
  await read(reader);
  await expect(reader.read()).rejects.toThrow("broken");
  expect(asked).toEqual(["piece", "piece", "ended"]);
});

test("a body that nobody holds any more ends the source, although its signal is still there", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { source, asked, ended } = sourceOf("a");
  const controller = new AbortController();
  (() => void streamedBody(source, controller.signal, ended))();
  await expect
    .poll(() => {
      collect();
      return asked;
    })
    .toEqual(["ended", "end"]);
  controller.abort();
});
