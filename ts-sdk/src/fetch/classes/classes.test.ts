/** Compares our Fetch classes with Node's, which pass the standard's own tests. */
import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../platform.ts";
import type { RawHeader } from "../../raw.ts";
import { Headers as OwnHeaders } from "./headers.ts";
import { Request as OwnRequest } from "./request.ts";
import { Response as OwnResponse } from "./response.ts";

// The globals are Node's, because this file does not call `installFetchClasses`.
const node = { Headers, Request, Response };
const own = { Headers: OwnHeaders, Request: OwnRequest, Response: OwnResponse } as unknown as typeof node;

/** The result of a function, or the class of its exception. */
async function outcome(use: (of: typeof node) => unknown, of: typeof node): Promise<unknown> {
  try {
    return await use(of);
  } catch (thrown) {
    return (thrown as Error).constructor.name;
  }
}

const bytes = new Uint8Array([104, 195, 164]);
const stream = (...pieces: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

const uses: Record<string, (of: typeof node) => unknown> = {
  "headers of pairs": ({ Headers }) => [
    ...new Headers([
      ["B", "2"],
      ["a", " 1 "],
      ["b", "3"],
    ]),
  ],
  "headers of a record": ({ Headers }) => [...new Headers({ "X-A": "1", b: "2" })],
  "headers of headers": ({ Headers }) => [...new Headers(new Headers({ a: "1" }))],
  cookies: ({ Headers }) => {
    const headers = new Headers({ b: "1" });
    headers.append("Set-Cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return [[...headers], headers.getSetCookie(), headers.get("set-cookie"), headers.has("SET-COOKIE")];
  },
  "set, delete, get": ({ Headers }) => {
    const headers = new Headers({ a: "1", b: "2" });
    headers.set("A", "3");
    headers.delete("B");
    headers.set("set-cookie", "x");
    headers.delete("set-cookie");
    return [headers.get("a"), headers.get("b"), headers.has("b"), [...headers.keys()], [...headers.values()]];
  },
  forEach: ({ Headers }) => {
    const seen: unknown[] = [];
    new Headers({ a: "1" }).forEach((value, name) => void seen.push([name, value]));
    return seen;
  },
  "a wrong name": ({ Headers }) => new Headers({ "a b": "1" }),
  "a wrong value": ({ Headers }) => new Headers({ a: "1\r\n2" }),
  "a value beyond bytes": ({ Headers }) => new Headers({ a: "\u0100" }),
  "a wrong pair": ({ Headers }) => new Headers([["a"]] as never),
  "headers of a text": ({ Headers }) => new Headers("a" as never),
  "a text response": async ({ Response }) => {
    const response = new Response("hä", { status: 201, statusText: "Made", headers: { a: "1" } });
    return [
      response.status,
      response.statusText,
      response.ok,
      response.type,
      response.url,
      response.redirected,
      [...response.headers],
      response.bodyUsed,
      await response.text(),
      response.bodyUsed,
    ];
  },
  "an empty response": async ({ Response }) => {
    const response = new Response();
    return [response.body, await response.text(), response.bodyUsed, [...response.headers]];
  },
  json: async ({ Response }) => new Response('{"a":[1]}').json(),
  "wrong json": async ({ Response }) => new Response("{").json(),
  bytes: async ({ Response }) => [...new Uint8Array(await new Response(bytes).arrayBuffer())],
  "a view": async ({ Response }) => new Response(bytes.subarray(1)).text(),
  "a byte order mark": async ({ Response }) => new Response(new Uint8Array([239, 187, 191, 97])).text(),
  "no UTF-8": async ({ Response }) => new Response(new Uint8Array([255, 97])).text(),
  parameters: async ({ Response }) => {
    const response = new Response(new URLSearchParams({ a: "ä b" }));
    return [response.headers.get("content-type"), await response.text()];
  },
  "a blob": async ({ Response }) => {
    const response = new Response(new Blob(["ab"], { type: "image/png" }));
    return [response.headers.get("content-type"), await response.text()];
  },
  "to a blob": async ({ Response }) => {
    const blob = await new Response("ab", { headers: { "content-type": "image/png" } }).blob();
    return [blob.type, blob.size, await blob.text()];
  },
  "a form": async ({ Response }) => {
    const form = new FormData();
    form.append("a", "1");
    form.append("f", new File(["x"], "x.txt", { type: "text/plain" }));
    const response = new Response(form);
    const type = (response.headers.get("content-type") as string).split(";")[0];
    const back = await response.formData();
    const file = back.get("f") as File;
    return [type, back.get("a"), file.name, file.type, await file.text()];
  },
  "a form of bytes": async ({ Response }) => {
    const body = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
    const head = 'form-data; name="f"; filename="s%22.bin"';
    const parts = `--x\r\nContent-Disposition: ${head}\r\n\r\na\xff\xfe\r\n\0\r\n--x--\r\n`;
    const headers = { "content-type": 'Multipart/Form-Data; boundary="x"' };
    const file = (await new Response(body(parts), { headers }).formData()).get("f") as File;
    return [file.name, file.type, file.size, ...new Uint8Array(await file.arrayBuffer())];
  },
  "a broken form": async ({ Response }) =>
    new Response("xx", { headers: { "content-type": "multipart/form-data; boundary=zz" } }).formData(),
  "a form without a boundary": async ({ Response }) =>
    new Response("xx", { headers: { "content-type": "multipart/form-data" } }).formData(),
  "no form": async ({ Response }) => new Response("xx").formData(),
  "names of the classes": async ({ Request, Response }) => [
    Request.name,
    Response.name,
    new Response().constructor.name,
  ],
  "a urlencoded form": async ({ Request }) => {
    const body = new URLSearchParams("a=1&b=%26");
    return [...(await new Request("http://a/", { method: "POST", body }).formData())];
  },
  "a stream": async ({ Response }) => new Response(stream(bytes, new Uint8Array([98]))).text(),
  "a stream of texts": async ({ Response }) => new Response(stream("a")).text(),
  twice: async ({ Response }) => {
    const response = new Response("a");
    await response.text();
    return response.text();
  },
  "the body as a stream": async ({ Response }) => {
    const response = new Response("ab");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    return [new TextDecoder().decode(value), (await reader.read()).done, response.bodyUsed];
  },
  "text of a locked body": async ({ Response }) => {
    const response = new Response("ab");
    response.body?.getReader();
    return response.text();
  },
  "a body that moves": async ({ Response }) => {
    const first = new Response("ab", { headers: { a: "1" } });
    const second = new Response(first.body, first);
    return [await second.text(), second.headers.get("a"), second.headers.get("content-type")];
  },
  "a clone": async ({ Response }) => {
    const response = new Response("ab", { status: 202, headers: { a: "1" } });
    const clone = response.clone();
    clone.headers.set("a", "2");
    return [await response.text(), await clone.text(), clone.status, response.headers.get("a")];
  },
  "a clone of a stream": async ({ Response }) => {
    const response = new Response(stream(bytes));
    const clone = response.clone();
    return [await clone.text(), await response.text()];
  },
  "a clone of what is used": async ({ Response }) => {
    const response = new Response("a");
    await response.text();
    return response.clone();
  },
  "a status out of range": ({ Response }) => new Response("", { status: 199 }),
  "a body where there is none": ({ Response }) => new Response("a", { status: 204 }),
  "a wrong status text": ({ Response }) => new Response("", { statusText: "a\nb" }),
  "Response.json": async ({ Response }) => {
    const response = Response.json({ a: 1 }, { status: 201 });
    return [response.status, response.headers.get("content-type"), await response.text()];
  },
  "Response.json of nothing": ({ Response }) => Response.json(undefined),
  "Response.redirect": ({ Response }) => {
    const response = Response.redirect("http://a/b", 307);
    return [response.status, response.headers.get("location")];
  },
  "Response.redirect with another status": ({ Response }) => Response.redirect("http://a/", 200 as never),
  "Response.redirect to no URL": ({ Response }) => Response.redirect("b", 302),
  "Response.error": ({ Response }) => [Response.error().type, Response.error().status],
  tags: ({ Headers, Request, Response }) =>
    [new Headers(), new Request("http://a/"), new Response()].map((each) => Object.prototype.toString.call(each)),
  "a request": async ({ Request }) => {
    const request = new Request("http://a/b?c#d", { method: "post", body: "x", headers: { a: "1" } });
    return [
      request.method,
      request.url,
      [...request.headers],
      await request.text(),
      request.bodyUsed,
      request.redirect,
    ];
  },
  "a request of a request": async ({ Request }) => {
    const first = new Request("http://a/", { method: "PUT", body: "x", headers: { a: "1" } });
    const second = new Request(first, { headers: { b: "2" } });
    return [first.bodyUsed, second.method, [...second.headers].map(([name]) => name), await second.text()];
  },
  "a request of one that is used": async ({ Request }) => {
    const first = new Request("http://a/", { method: "PUT", body: "x" });
    await first.text();
    return new Request(first);
  },
  "a GET request with a body": ({ Request }) => new Request("http://a/", { body: "x" }),
  "a forbidden method": ({ Request }) => new Request("http://a/", { method: "TRACE" }),
  "a wrong method": ({ Request }) => new Request("http://a/", { method: "a b" }),
  "a method that keeps its case": ({ Request }) => new Request("http://a/", { method: "patch" }).method,
  referrers: ({ Request }) =>
    ["http://b", "about:client", ""].map((referrer) => new Request("http://a/", { referrer }).referrer),
  "a wrong referrer": ({ Request }) => new Request("http://a/", { referrer: "b" }),
  "a wrong URL": ({ Request }) => new Request("/a"),
  "a URL with credentials": ({ Request }) => new Request("http://u:p@a/"),
  "a request's clone": async ({ Request }) => {
    const request = new Request("http://a/", { method: "POST", body: "x" });
    return [await request.clone().text(), await request.text()];
  },
};

describe("does as Node's does", () => {
  it.each(Object.keys(uses))("%s", async (name) => {
    const use = uses[name] as (of: typeof node) => unknown;
    const expected = await outcome(use, node);
    const actual = await outcome(use, own);
    // A message is converted, because it is not a plain value.
    const plain = (value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value;
    expect(plain(actual)).toEqual(plain(expected));
  });
});

it("reads the headers of a host when they are asked for", async () => {
  const { headersOf } = await import("./headers.ts");
  let reads = 0;
  const headers = headersOf({
    get headers(): RawHeader[] {
      reads += 1;
      return [
        ["A", encodeUtf8("1")],
        ["a", encodeUtf8("2")],
        ["set-cookie", encodeUtf8("b")],
      ];
    },
  });
  expect(reads).toBe(0);
  expect([headers.get("A"), headers.getSetCookie(), reads]).toEqual(["1, 2", ["b"], 1]);
});

it("asks a record of headers for its keys and its values only", () => {
  const asked: string[] = [];
  const handler = new Proxy({} as ProxyHandler<Record<string, string>>, {
    get: (_, trap: string) => {
      asked.push(trap);
    },
  });
  expect([...new OwnHeaders(new Proxy({ a: "b" }, handler))]).toEqual([["a", "b"]]);
  expect(asked).toEqual(["get", "ownKeys", "getOwnPropertyDescriptor", "get"]);
});

it("makes streams and requests whatever Object.prototype has", async () => {
  const names = ["start", "type", "size", "highWaterMark"];
  const given = { value: -1, writable: true, enumerable: true, configurable: true };
  for (const name of names) Object.defineProperty(Object.prototype, name, given);
  let read: unknown;
  let method: string;
  try {
    ({ value: read } = await (new OwnResponse("a").body as ReadableStream).getReader().read());
    ({ method } = new OwnRequest("http://a/", { method: "PUT", body: "a" }));
  } finally {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  }
  expect(read).toEqual(encodeUtf8("a"));
  expect(method).toBe("PUT");
});

it("keeps the byte order mark of a form's names and values", async () => {
  const marked = "\uFEFFa=\uFEFF";
  const init = { headers: { "content-type": "application/x-www-form-urlencoded" } };
  const form = (await new OwnResponse(marked, init).formData()) as FormData;
  expect([...form]).toEqual([["\uFEFFa", "\uFEFF"]]);
});
