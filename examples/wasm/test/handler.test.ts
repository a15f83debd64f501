import { testApp } from "@tenon/sdk/testing";
import { expect, test } from "vitest";
import app from "../src/handler.ts";

const api = testApp(app);

const image = (width: number, height: number, pixels: readonly number[]) =>
  new Uint8Array([...new TextEncoder().encode(`P6\n${width} ${height}\n255\n`), ...pixels]);

const thumbnail = (body: Uint8Array<ArrayBuffer>, width: number) =>
  api.post(`/thumbnail?width=${width}`, { body, headers: { "content-type": "image/x-portable-pixmap" } });

test("a pixel of the thumbnail is the average of those that it covers", async () => {
  const body = image(4, 2, [0, 100, 200, 10, 100, 0, 1, 2, 3, 1, 2, 3, 0, 100, 200, 10, 100, 0, 1, 2, 3, 5, 6, 7]);
  const answer = await thumbnail(body, 2);
  expect(answer.headers.get("content-type")).toBe("image/x-portable-pixmap");
  expect(answer.bytes()).toEqual(image(2, 1, [5, 100, 100, 2, 3, 4]));
});

test("an image is never made larger, and a large one is made small", async () => {
  const small = image(1, 1, [1, 2, 3]);
  expect((await thumbnail(small, 64)).bytes()).toEqual(small);
  const grey = image(
    1_000,
    1_000,
    Array.from({ length: 3_000_000 }, () => 128),
  );
  expect((await thumbnail(grey, 10)).bytes()).toEqual(
    image(
      10,
      10,
      Array.from({ length: 300 }, () => 128),
    ),
  );
});

test("other bodies are refused", async () => {
  for (const body of [new Uint8Array(0), image(2, 2, [1]), image(0, 1, [])])
    expect((await thumbnail(body, 1)).status).toBe(400);
});
