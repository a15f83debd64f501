import { describe, expect, it } from "vitest";
import { accepted, created, ensure, error, guard, HttpError, noContent, ok, respond } from "../index.ts";

const JSON_TYPE = ["content-type", "application/json"];

describe("responses are plain data", () => {
  it.each([
    ["ok", ok({ a: 1 }), { status: 200, headers: [JSON_TYPE], body: { a: 1 } }],
    ["created", created("/a/1", { a: 1 }), { status: 201, headers: [JSON_TYPE, ["location", "/a/1"]], body: { a: 1 } }],
    [
      "created at a place that a header can't have",
      created("/users/日本/é?a=%20", {}),
      { status: 201, headers: [JSON_TYPE, ["location", "/users/%E6%97%A5%E6%9C%AC/%C3%A9?a=%20"]], body: {} },
    ],
    ["accepted", accepted(), { status: 202, headers: [], body: undefined }],
    ["accepted with a body", accepted({ a: 1 }), { status: 202, headers: [JSON_TYPE], body: { a: 1 } }],
    ["noContent", noContent(), { status: 204, headers: [], body: undefined }],
    ["respond", respond(206), { status: 206, headers: [], body: undefined }],
    [
      "respond with a text",
      respond(200, { body: "a" }),
      { status: 200, headers: [["content-type", "text/plain; charset=utf-8"]], body: "a" },
    ],
    [
      "respond with bytes",
      respond(200, { body: new Uint8Array([1]) }),
      { status: 200, headers: [], body: new Uint8Array([1]) },
    ],
    [
      "respond with an object of headers",
      respond(200, { headers: { "X-A": "1", "x-b": ["2", "3"] } }),
      {
        status: 200,
        headers: [
          ["x-a", "1"],
          ["x-b", "2"],
          ["x-b", "3"],
        ],
        body: undefined,
      },
    ],
    [
      "respond with pairs of headers",
      respond(200, {
        headers: [
          ["x-a", "1"],
          ["X-A", "2"],
        ],
      }),
      {
        status: 200,
        headers: [
          ["x-a", "1"],
          ["x-a", "2"],
        ],
        body: undefined,
      },
    ],
  ])("%s", (_name, response, expected) => {
    expect(response).toEqual(expected);
  });

  it("error is problem details, with extension members that can't change status and detail", () => {
    const extra = { type: "https://e.co/x", instance: "/1", code: 7, status: 200, detail: "other" };
    expect(error(404, "none", extra)).toEqual({
      status: 404,
      headers: [["content-type", "application/problem+json"]],
      body: { type: "https://e.co/x", title: "Not Found", status: 404, detail: "none", instance: "/1", code: 7 },
    });
    expect(error(499, "x").body.title).toBe("Client Error");
    expect(error(599, "x").body.title).toBe("Server Error");
    expect(error(400, "x", { title: "Wrong" }).body.title).toBe("Wrong");
  });

  it("refuses statuses that are not what they should be", () => {
    for (const status of [200, 399, 600, 404.5, Number.NaN, "404"])
      expect(() => error(status as number, "x")).toThrow(RangeError);
    for (const status of [100, 199, 600, 200.5]) expect(() => respond(status)).toThrow(RangeError);
  });

  it("refuses bodies that respond can't send", () => {
    expect(() => respond(200, { body: { a: 1 } as never })).toThrow(/for JSON there is ok\(\)/);
  });
});

describe("header", () => {
  it("gives another answer, and leaves the first as it was", () => {
    const first = ok({});
    const second = first.header("X-A", "1").header("x-a", "2");
    expect(first.headers).toEqual([JSON_TYPE]);
    expect(second.headers).toEqual([JSON_TYPE, ["x-a", "1"], ["x-a", "2"]]);
    expect(respond(200, { body: "a" }).header("x-a", "1")).toBeInstanceOf(respond(200).constructor);
  });

  it("repeats set-cookie, and replaces what can be there but once", () => {
    const response = ok({})
      .header("set-cookie", "a=1")
      .header("Set-Cookie", "b=2")
      .header("Content-Type", "application/hal+json");
    expect(response.headers).toEqual([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["content-type", "application/hal+json"],
    ]);
    expect(created("/a", {}).header("Location", "/b").headers).toEqual([JSON_TYPE, ["location", "/b"]]);
  });

  it.each([
    ...["cache-control", "content-disposition", "content-encoding", "content-language", "content-range"],
    ...["content-location", "expires", "age", "date", "etag", "last-modified", "retry-after"],
    ...["access-control-allow-origin", "access-control-allow-credentials", "access-control-max-age"],
  ])("replaces %s", (name) => {
    const response = respond(200, { headers: { [name]: "a", "x-b": "c" } }).header(name.toUpperCase(), "b");
    expect(response.headers).toEqual([
      ["x-b", "c"],
      [name, "b"],
    ]);
  });

  it.each(["vary", "link", "www-authenticate", "content-security-policy", "cache-status", "x-age"])(
    "repeats %s",
    (name) => {
      expect(noContent().header(name, "a").header(name, "b").headers).toEqual([
        [name, "a"],
        [name, "b"],
      ]);
    },
  );

  it.each(["a\nb", "a\rb", "a\0b", "€", "a\r\nset-cookie: x=1", "🜀", "a\u0001b", "a\u007f"])(
    "refuses the value %j, naming the header",
    (value) => {
      expect(() => ok({}).header("x-name", value)).toThrow(/header "x-name": the value must have no control character/);
      expect(() => respond(200, { headers: { "x-name": value } })).toThrow(/"x-name"/);
    },
  );

  it.each(["a\nb", "a\0b", "a\r\nset-cookie: x=1", "a\u007f"])("refuses the location %j", (value) => {
    expect(() => created(value, {})).toThrow(/header "location"/);
  });

  it.each(["connection", "Transfer-Encoding", "keep-alive", "upgrade", "host", "proxy-connection"])(
    "leaves %s to the connection",
    (name) => {
      expect(() => ok({}).header(name, "close")).toThrow(`header "${name}": it is the connection's`);
      expect(() => respond(200, { headers: { [name]: "close" } })).toThrow(/the connection's/);
    },
  );

  it.each(["", "a b", "a:", "é", "a\n", "(x)"])("refuses the name %j", (name) => {
    expect(() => ok({}).header(name, "x")).toThrow(`${JSON.stringify(name)} is not a header name`);
  });

  it("takes every byte that HTTP allows", () => {
    expect(ok({}).header("x!#$%&'*+.^_`|~9-", "\té\x80\xff ~").headers[1]?.[1]).toBe("\té\x80\xff ~");
  });
});

describe("guard and ensure", () => {
  const answer = (run: () => unknown) => {
    try {
      return run();
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(HttpError);
      return (thrown as HttpError).response;
    }
  };

  it("guard answers unless its condition is truthy", () => {
    for (const condition of [false, 0, "", null, undefined, Number.NaN]) {
      expect(answer(() => guard(condition, 400, "no"))).toEqual(error(400, "no"));
    }
    for (const condition of [true, 1, "a", {}]) expect(answer(() => guard(condition, 400, "no"))).toBeUndefined();
  });

  it("ensure gives what is there, also when it is falsy", () => {
    for (const value of [0, "", false, "a", [], {}]) {
      expect(answer(() => ensure(value, 404, "none"))).toBe(value);
      expect(answer(() => ensure(() => value, 404, "none"))).toBe(value);
    }
  });

  it("ensure answers to null, undefined and a function that throws", () => {
    const fails = () => {
      throw new Error("inner");
    };
    for (const value of [null, undefined, () => null, () => undefined, fails]) {
      expect(answer(() => ensure(value, 404, "none"))).toEqual(error(404, "none"));
    }
  });

  it("ensure refuses a promise that nobody awaited", () => {
    expect(() => ensure(Promise.resolve(1) as never, 404, "none")).toThrow(/await it first/);
    expect(() => ensure((async () => 1) as never, 404, "none")).toThrow(/await it first/);
  });

  it("an HttpError is an error with the message", () => {
    const thrown = new HttpError(error(404, "none"));
    expect([thrown.name, thrown.message, thrown instanceof Error]).toEqual(["HttpError", "none", true]);
  });
});
