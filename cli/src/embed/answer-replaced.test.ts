/** A {@link WholeResponse} where a server has replaced the global `Request` and `Response` before any of Tenon was loaded. */
import { getRequestListener } from "@hono/node-server";
import { expect, test } from "vitest";

const NodeResponse = Response;
getRequestListener(() => new Response());
const { WholeResponse } = await import("./answer.ts");

const answer = (head = "content-type\napplication/json\nset-cookie\na=1\nset-cookie\nb=2", body = '{"a":1}') =>
  new WholeResponse(201, head, new TextEncoder().encode(body));

test("the globals are replaced", () => {
  expect(Response).not.toBe(NodeResponse);
});

test("it is a response of Node's own", async () => {
  const { status, ok, statusText, type, url, redirected, headers } = answer();
  expect([status, ok, statusText, type, url, redirected]).toEqual([201, true, "", "default", "", false]);
  expect(headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(answer()).toBeInstanceOf(NodeResponse);
  expect(answer()).not.toBeInstanceOf(Response);
  expect(Object.prototype.toString.call(answer())).toBe("[object Response]");
});

test("its body can be had in every way", async () => {
  expect(await answer().json()).toEqual({ a: 1 });
  expect(await answer().text()).toBe('{"a":1}');
  expect((await answer().arrayBuffer()).byteLength).toBe(7);
  expect(await (await answer().blob()).text()).toBe('{"a":1}');
  expect([...(await answer("content-type\napplication/x-www-form-urlencoded", "a=1&b=2").formData())]).toEqual([
    ["a", "1"],
    ["b", "2"],
  ]);
  const pieces: number[] = [];
  for await (const piece of answer().body ?? []) pieces.push(...piece);
  expect(Buffer.from(pieces).toString()).toBe('{"a":1}');
  const kept = answer();
  expect(await kept.clone().json()).toEqual(await kept.json());
  expect([answer().withoutBody().status, answer().withoutBody().body]).toEqual([201, null]);
});

test.each([
  ["Node's own class", NodeResponse],
  ["the class in its place", globalThis.Response],
])("%s makes a response of it", async (_, Class) => {
  const given = answer();
  const made = new Class(given.body, given);
  expect([made.status, made.headers.get("content-type"), await made.text()]).toEqual([
    201,
    "application/json",
    '{"a":1}',
  ]);
});
