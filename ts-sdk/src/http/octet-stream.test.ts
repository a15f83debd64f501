import { describe, expect, it } from "vitest";
import { uploadKey } from "../abi.ts";
import { client } from "../client/index.ts";
import { field, octetStream, ok, post, put, routes, Type } from "../index.ts";
import { json } from "../openapi/json.ts";
import { platform, type Uploads } from "../platform.ts";
import type { RawHeader, RawResponse } from "../raw.ts";
import { testApp } from "../testing/index.ts";

const app = routes({
  count: put("/files", { body: octetStream({ max: 10, types: ["application/pdf", "image/*"] }) }, async ({ body }) => {
    const pieces: number[] = [];
    for await (const piece of body) pieces.push(piece.length);
    return ok({ pieces });
  }),
  any: post("/any", { body: octetStream() }, async ({ body }) => {
    let bytes = 0;
    for await (const piece of body) bytes += piece.length;
    return ok({ bytes });
  }),
  whole: post("/whole", { body: Type("Whole", { a: field.u32() }) }, ({ body }) => ok(body)),
});

const bytes = (length: number) => new Uint8Array(length);

/** Calls the app as a host does that streams bodies. */
const uploads = platform[uploadKey] as Uploads;
const begin = (method: string, pathWithQuery: string, type?: string) => {
  const headers: RawHeader[] = type === undefined ? [] : [["content-type", Buffer.from(type)]];
  return summary(uploads.begin({ method, pathWithQuery, headers }, app.handle));
};
const piece = (piece: Uint8Array) => summary(uploads.piece(piece));
const end = () => summary(uploads.end());

/** The status, and the number of headers or the JSON of the body. */
async function summary(answering: Promise<RawResponse>) {
  const answer = await answering;
  const text = Buffer.from(answer.body ?? []).toString();
  return [answer.status, text === "" ? answer.headers.length : JSON.parse(text)];
}

it("gives the handler each piece that arrives", async () => {
  expect(await begin("PUT", "/files", "image/png")).toEqual([100, 0]);
  expect(await piece(bytes(3))).toEqual([100, 0]);
  expect(await piece(bytes(7))).toEqual([100, 0]);
  expect(await end()).toEqual([200, { pieces: [3, 7] }]);
});

it("answers 413 as soon as there is too much, and 415 before anything arrives", async () => {
  await begin("PUT", "/files", "application/pdf");
  expect(await piece(bytes(11))).toEqual([413, expect.objectContaining({ status: 413 })]);
  expect(await begin("PUT", "/files", "text/plain")).toEqual([
    415,
    expect.objectContaining({ detail: "The body must be application/pdf or image/*." }),
  ]);
});

it("collects the body for other routes", async () => {
  expect(await begin("POST", "/whole", "application/json")).toEqual([100, 1]);
  expect(await piece(Buffer.from('{"a":1}'))).toEqual([200, { a: 1 }]);
  expect(await begin("POST", "/nowhere")).toEqual([100, 1]);
  expect((await end())[0]).toBe(404);
});

it("takes bodies that are there as a whole", async () => {
  const answer = await testApp(app).request("PUT", "/files", {
    headers: { "content-type": "image/png" },
    body: bytes(4),
  });
  expect(answer.json()).toEqual({ pieces: [4] });
  expect((await testApp(app).request("POST", "/any")).json()).toEqual({ bytes: 0 });
});

it("is a binary string of its media types in the document", () => {
  const { paths } = JSON.parse(json(app, { name: "files", version: "1.0.0" }));
  const binary = { schema: { type: "string", format: "binary" } };
  expect(paths["/files"].put.requestBody).toEqual({
    required: true,
    content: { "application/pdf": binary, "image/*": binary },
  });
  expect(paths["/any"].post.requestBody.content).toEqual({ "application/octet-stream": binary });
});

it("is sent as it is by a typed client", async () => {
  const api = client<typeof app>(testApp(app));
  expect(await api.any({ body: bytes(5) })).toMatchObject({ ok: true, data: { bytes: 5 } });
  expect(await api.count({ body: new Blob(["abc"], { type: "image/png" }) })).toMatchObject({ data: { pieces: [3] } });
  // @ts-expect-error a number is no stream of bytes
  const wrong = () => api.any({ body: 1 });
  expect(wrong).toBeTypeOf("function");
});

describe("definitions", () => {
  it.each([
    [{ max: -1 }, 'octetStream: "max" must be a number of bytes, not -1'],
    [{ max: 1.5 }, 'octetStream: "max" must be a number of bytes, not 1.5'],
    [{ types: ["png"] }, 'octetStream: "types" has "png", which is not a media type'],
    [{ size: 1 }, /octetStream.*size/],
  ])("%j are refused", (options, message) => {
    expect(() => octetStream(options as never)).toThrow(message);
  });
});
