/** The classes as the standards have them, beyond the library's own tests. */
import { expect, it } from "vitest";
import { ReadableStream as OwnReadableStream } from "./classes.ts";
import {
  TextDecoderStream as OwnTextDecoderStream,
  TextEncoderStream as OwnTextEncoderStream,
} from "./text-streams.ts";

async function collected(stream: { readonly getReader: OwnReadableStream<unknown>["getReader"] }): Promise<unknown[]> {
  const reader = stream.getReader();
  const pieces: unknown[] = [];
  for (let read = await reader.read(); !read.done; read = await reader.read()) pieces.push(read.value);
  return pieces;
}

it("iterates with the language's own prototype", async () => {
  const stream = OwnReadableStream.from([1, 2]);
  const asyncIterator = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype));
  expect(Object.getPrototypeOf(Object.getPrototypeOf(stream.values()))).toBe(asyncIterator);
  const pieces: unknown[] = [];
  for await (const piece of OwnReadableStream.from([1, 2])) pieces.push(piece);
  expect(pieces).toEqual([1, 2]);
});

it("encodes and decodes text whose characters are split", async () => {
  const bytes = OwnReadableStream.from(["a\ud83d", "\ude00", "\ud83d", "b"]).pipeThrough(new OwnTextEncoderStream());
  expect((await collected(bytes)).map((each) => [...(each as Uint8Array)])).toEqual([
    [97],
    [240, 159, 152, 128],
    [239, 191, 189, 98],
  ]);
  const parts = [new Uint8Array([0xef, 0xbb]), new Uint8Array([0xbf, 0xc3]), new Uint8Array([0xa4])];
  const text = OwnReadableStream.from(parts).pipeThrough(new OwnTextDecoderStream());
  expect((await collected(text)).join("")).toBe("ä");
  const broken = OwnReadableStream.from([new Uint8Array([0xff])]).pipeThrough(
    new OwnTextDecoderStream("utf-8", { fatal: true }),
  );
  await expect(collected(broken)).rejects.toThrow(TypeError);
  await expect(collected(OwnReadableStream.from([undefined]).pipeThrough(new OwnTextDecoderStream()))).rejects.toThrow(
    TypeError,
  );
});

it("has the attributes of a decoder", () => {
  const { encoding, fatal, ignoreBOM } = new OwnTextDecoderStream("utf8", { fatal: true, ignoreBOM: true });
  expect([encoding, fatal, ignoreBOM, new OwnTextEncoderStream().encoding]).toEqual(["utf-8", true, true, "utf-8"]);
  expect(OwnTextDecoderStream.length).toBe(0);
  expect(() => new OwnTextDecoderStream("x-none")).toThrow(RangeError);
});
