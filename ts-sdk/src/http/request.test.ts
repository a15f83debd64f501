import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { RawHeader } from "../raw.ts";
import { Headers } from "./headers.ts";
import { Request } from "./request.ts";

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const utf8 = (text: string) => new TextEncoder().encode(text);
const request = (pathWithQuery: string, headers: RawHeader[] = [], body?: Uint8Array) =>
  new Request({ method: "POST", pathWithQuery, headers, ...(body && { body }) });

describe("headers", () => {
  const headers = new Headers([
    ["X-A", latin1("1")],
    ["x-b", latin1("é\xff")],
    ["x-a", latin1("2, 3")],
    ["set-cookie", latin1("a")],
    ["set-cookie", latin1("b")],
  ]);

  it("are case-insensitive", () => {
    expect(headers.get("x-A")).toBe("1, 2, 3");
    expect(headers.getAll("X-a")).toEqual(["1", "2, 3"]);
    expect(headers.get("X-B")).toBe("é\xff");
    expect([headers.has("SET-COOKIE"), headers.has("x-c")]).toEqual([true, false]);
    expect([headers.get("x-c"), headers.getAll("x-c")]).toEqual([undefined, []]);
  });

  it("are iterable, in order, with lower-case names", () => {
    expect([...headers]).toEqual([
      ["x-a", "1"],
      ["x-b", "é\xff"],
      ["x-a", "2, 3"],
      ["set-cookie", "a"],
      ["set-cookie", "b"],
    ]);
  });
});

it("gives the body as bytes of the handler's own realm, the same each time", () => {
  const foreign = runInNewContext("new Uint8Array([104, 105])");
  expect(foreign instanceof Uint8Array).toBe(false);
  const given = request("/", [], foreign);
  expect(given.body instanceof Uint8Array && given.body.buffer instanceof ArrayBuffer).toBe(true);
  expect(given.body).toBe(given.body);
  expect([given.body, given.text()]).toEqual([utf8("hi"), "hi"]);
});

describe("path, query and url", () => {
  it.each([
    ["/a%20b?c=d%20e?f", "/a%20b", "c=d%20e?f"],
    ["/a", "/a", ""],
    ["/a?", "/a", ""],
    ["", "", ""],
    ["?a", "", "a"],
  ])("%j", (given, path, query) => {
    expect([request(given).path, request(given).query]).toEqual([path, query]);
  });

  it.each([
    ["example.com", "/a?b", "http://example.com/a?b"],
    ["example.com:8080", "", "http://example.com:8080/"],
    ["[::1]:80", "/a", "http://[::1]/a"],
    ["bad host", "/a", "http://localhost/a"],
    ["a/b", "/a", "http://localhost/a"],
    ["evil.com\\@good.com", "/a", "http://localhost/a"],
    ["a:b:c", "/a", "http://localhost/a"],
    [undefined, "//a/b", "http://localhost//a/b"],
  ])("host %j with %j", (host, path, url) => {
    expect(request(path, host === undefined ? [] : [["Host", latin1(host)]]).url).toBe(url);
  });
});

describe("the body", () => {
  it("is text only when it is there, and UTF-8", () => {
    expect(request("/").text()).toBeUndefined();
    expect(request("/", [], new Uint8Array()).text()).toBe("");
    expect(request("/", [], utf8("grün €")).text()).toBe("grün €");
    expect(request("/", [], utf8("\ufeffa")).text()).toBe("a");
    expect(request("/", [], new Uint8Array([0xc3, 0x28])).text()).toBeUndefined();
    expect(request("/", [], new Uint8Array([0xed, 0xa0, 0x80])).text()).toBeUndefined();
    expect(request("/", [], new Uint8Array([0xc0, 0x80])).text()).toBeUndefined();
  });

  it("is JSON, or answers 400", () => {
    expect(request("/", [], utf8('{"a":[1]}')).json()).toEqual({ a: [1] });
    expect(() => request("/", [], utf8("{")).json()).toThrow(
      expect.objectContaining({ name: "HttpError", response: expect.objectContaining({ status: 400 }) }),
    );
    expect(() => request("/").json()).toThrow(
      expect.objectContaining({ response: expect.objectContaining({ status: 400 }) }),
    );
  });
});

it("reads header values of any length", () => {
  for (const length of [0, 1, 4096, 4097, 70_000]) {
    const value = new Uint8Array(length).fill(0xe9);
    const request = new Request({ method: "GET", pathWithQuery: "/", headers: [["X-Long", value]] });
    expect(request.headers.get("x-long")).toBe("\xe9".repeat(length));
  }
});
