import { expect, it, vi } from "vitest";
import { streamKey, uploadKey } from "../abi.ts";
import { platform } from "../platform.ts";
import type { RawResponse } from "../raw.ts";
import { fetchHandler } from "./fetch-handler.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (body: Uint8Array | undefined) => new TextDecoder().decode(body);

/** A component with this app, called as the host calls it. */
function component(fetch: (request: Request) => Response | Promise<Response>) {
  const handle = fetchHandler({ fetch: fetch as never });
  const goOn = ({ method }: { method: string }) => platform[streamKey]?.(method) ?? { status: 500, headers: [] };
  const call = async (method: string, body?: string): Promise<RawResponse> => {
    const raw = { method, pathWithQuery: "/", headers: [], ...(body === undefined ? {} : { body: encode(body) }) };
    return await (platform[uploadKey] as NonNullable<(typeof platform)[typeof uploadKey]>)(raw, handle, goOn as never);
  };
  return { handle, call };
}

const WAITS = { status: 100, headers: [] };
const summary = ({ status, body }: RawResponse) => [status, decode(body)];

it("says that it takes bodies in pieces, and asks for each", async () => {
  const { call } = component(async (request) => {
    const pieces: string[] = [];
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) pieces.push(decode(piece));
    return Response.json(pieces);
  });
  expect(await call(":streams")).toEqual(WAITS);
  expect(await call(":begin POST")).toEqual(WAITS);
  expect(await call(":piece", "one")).toEqual(WAITS);
  // No piece has arrived for a while.
  expect(await call(":piece")).toEqual(WAITS);
  expect(await call(":piece", "two")).toEqual(WAITS);
  expect(summary(await call(":end"))).toEqual([200, '["one","two"]']);
});

it("answers at once, and leaves the body where the app does not read it", async () => {
  const { call } = component(() => new Response("no", { status: 401 }));
  expect(summary(await call(":begin POST"))).toEqual([401, "no"]);
  // The request has no state left.
  expect((await call(":next")).status).toBe(500);
});

it("asks for the whole body where the app reads it as a whole", async () => {
  const { call } = component(async (request) => {
    const value: unknown = await request.json();
    const again = await request.text().catch((thrown: Error) => thrown.message);
    return Response.json([value, request.bodyUsed, again]);
  });
  const whole = await call(":begin POST");
  expect([whole.status, whole.headers[0]?.[0], decode(whole.headers[0]?.[1])]).toEqual([100, ":body", "whole"]);
  const { status, body } = await call(":piece", '{"a":1}');
  expect([status, JSON.parse(decode(body))]).toEqual([
    200,
    [{ a: 1 }, expect.any(Boolean), "Request.text: the body is used already"],
  ]);
});

it("streams the answer while the body arrives", async () => {
  const { call } = component((request) => new Response(request.body));
  const head = await call(":begin POST");
  expect([head.status, head.headers.at(-1)?.[0]]).toEqual([200, ":body"]);
  expect(await call(":next")).toEqual(WAITS);
  expect(summary(await call(":piece", "one"))).toEqual([200, "one"]);
  expect(await call(":next")).toEqual(WAITS);
  expect(summary(await call(":piece", "two"))).toEqual([200, "two"]);
  expect(await call(":next")).toEqual(WAITS);
  expect((await call(":end")).status).toBe(204);
});

it("fails the body that breaks off, in the app too", async () => {
  const seen: string[] = [];
  const { call } = component(async (request) => {
    await request.text().catch((thrown: Error) => seen.push(thrown.message));
    await request.body?.cancel().catch(() => {});
    return new Response("ok");
  });
  await call(":begin POST");
  expect(summary(await call(":broken"))).toEqual([200, "ok"]);
  expect(seen).toEqual(["the request's body broke off"]);
});

it("ends a stream that waits for its request when the client goes away", async () => {
  const reported = vi.spyOn(console, "error").mockReturnValue();
  const { call } = component((request) => new Response(request.body));
  await call(":begin POST");
  expect(await call(":next")).toEqual(WAITS);
  expect((await call(":cancel")).status).toBe(204);
  reported.mockRestore();
});

it("takes short bodies as a whole", async () => {
  const { handle } = component(async (request) => new Response((await request.text()).toUpperCase()));
  const raw = { method: "POST", pathWithQuery: "/", headers: [], body: encode("short") };
  expect(summary(await handle(raw))).toEqual([200, "SHORT"]);
});
