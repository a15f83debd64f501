import { expect, it, vi } from "vitest";
import { uploadKey } from "../abi.ts";
import { platform, type Uploads } from "../platform.ts";
import type { RawResponse } from "../raw.ts";
import { fetchHandler } from "./fetch-handler.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (body: Uint8Array | undefined) => new TextDecoder().decode(body);

/** A component with this app, called as the host calls it. */
function component(fetch: (request: Request) => Response | Promise<Response>) {
  const handle = fetchHandler({ fetch: fetch as never });
  const uploads = platform[uploadKey] as Uploads;
  const begin = () => uploads.begin({ method: "POST", pathWithQuery: "/", headers: [] }, handle);
  const piece = (text?: string) => uploads.piece(text === undefined ? undefined : encode(text));
  return { ...uploads, handle, begin, piece };
}

const WAITS = { status: 100, headers: [] };
const summary = ({ status, body }: RawResponse) => [status, decode(body)];

it("asks for each piece of a body", async () => {
  const { begin, piece, end } = component(async (request) => {
    const pieces: string[] = [];
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) pieces.push(decode(piece));
    return Response.json(pieces);
  });
  expect(await begin()).toEqual(WAITS);
  expect(await piece("one")).toEqual(WAITS);
  // No piece has arrived for a while.
  expect(await piece()).toEqual(WAITS);
  expect(await piece("two")).toEqual(WAITS);
  expect(summary(await end())).toEqual([200, '["one","two"]']);
});

it("answers at once, and leaves the body where the app does not read it", async () => {
  const { begin, next } = component(() => new Response("no", { status: 401 }));
  expect(summary(await begin())).toEqual([401, "no"]);
  // The request has no state left.
  expect((await next()).status).toBe(500);
});

it("asks for the whole body where the app reads it as a whole", async () => {
  const { begin, piece } = component(async (request) => {
    const value: unknown = await request.json();
    const again = await request.text().catch((thrown: Error) => thrown.message);
    return Response.json([value, request.bodyUsed, again]);
  });
  const whole = await begin();
  expect([whole.status, whole.headers[0]?.[0], decode(whole.headers[0]?.[1])]).toEqual([100, ":body", "whole"]);
  const { status, body } = await piece('{"a":1}');
  expect([status, JSON.parse(decode(body))]).toEqual([
    200,
    [{ a: 1 }, expect.any(Boolean), "Request.text: the body is used already"],
  ]);
});

it("streams the answer while the body arrives", async () => {
  const { begin, piece, end, next } = component((request) => new Response(request.body));
  const head = await begin();
  expect([head.status, head.headers.at(-1)?.[0]]).toEqual([200, ":body"]);
  expect(await next()).toEqual(WAITS);
  expect(summary(await piece("one"))).toEqual([200, "one"]);
  expect(await next()).toEqual(WAITS);
  expect(summary(await piece("two"))).toEqual([200, "two"]);
  expect(await next()).toEqual(WAITS);
  expect((await end()).status).toBe(204);
});

it("fails the body that breaks off, in the app too", async () => {
  const seen: string[] = [];
  const { begin, broken } = component(async (request) => {
    await request.text().catch((thrown: Error) => seen.push(thrown.message));
    await request.body?.cancel().catch(() => {});
    return new Response("ok");
  });
  await begin();
  expect(summary(await broken())).toEqual([200, "ok"]);
  expect(seen).toEqual(["the request's body broke off"]);
});

it("ends a stream that waits for its request when the client goes away", async () => {
  const reported = vi.spyOn(console, "error").mockReturnValue();
  const { begin, next, cancel } = component((request) => new Response(request.body));
  await begin();
  expect(await next()).toEqual(WAITS);
  await cancel();
  reported.mockRestore();
});

it("takes short bodies as a whole", async () => {
  const { handle } = component(async (request) => new Response((await request.text()).toUpperCase()));
  const raw = { method: "POST", pathWithQuery: "/", headers: [], body: encode("short") };
  expect(summary(await handle(raw))).toEqual([200, "SHORT"]);
});
