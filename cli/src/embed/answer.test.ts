/** Whatever is done with a {@link WholeResponse}, it does as Node's own `Response` does. */
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { WholeResponse } from "./answer.ts";

/** Node 20 has it; its types do not. */
type WithBytes = Response & { bytes(): Promise<Uint8Array> };

const heads = {
  none: [],
  json: [
    ["content-type", "application/json; charset=utf-8"],
    ["x-request-id", "7"],
  ],
  repeated: [
    ["set-cookie", "a=1"],
    ["vary", "a"],
    ["set-cookie", "b=2"],
    ["vary", "b"],
  ],
  bytes: [
    ["x-name", "J\u00fcrgen \u00ff"],
    ["x-empty", ""],
  ],
  form: [["content-type", "application/x-www-form-urlencoded"]],
} as const;

const bodies = {
  json: '{"greeting":"Hello, \u00c4da \u{1f600}!"}',
  mark: "\ufeffmarked",
  empty: "",
  form: "a=1&b=%20",
  broken: new Uint8Array([0xff, 0x00, 0xc3]),
};

/** The outcome of a promise or a call, as a comparable value. */
async function outcome(use: () => unknown): Promise<unknown> {
  try {
    const value = await use();
    if (value instanceof Blob) return { type: value.type, text: await value.text() };
    if (value instanceof FormData) return { fields: [...value] };
    if (value instanceof ArrayBuffer) return { kind: "ArrayBuffer", bytes: [...new Uint8Array(value)] };
    if (value instanceof ReadableStream) return { kind: "ReadableStream", locked: value.locked };
    return value;
  } catch (error) {
    return { name: (error as Error).name, type: error instanceof TypeError ? "TypeError" : "other" };
  }
}

async function streamed(response: Response): Promise<unknown> {
  const pieces: number[] = [];
  for await (const piece of response.body ?? []) pieces.push(...piece);
  return pieces;
}

const uses: Record<string, (response: Response) => unknown> = {
  status: ({ status, ok, statusText, type, url, redirected }) => ({ status, ok, statusText, type, url, redirected }),
  kind: (response) => [response instanceof Response, Object.prototype.toString.call(response)],
  shown: (response) => inspect(response).replace(/^\w+/, ""),
  headers: ({ headers }) => [[...headers], headers.getSetCookie(), headers.get("X-Request-Id"), headers.has("nothing")],
  "the same headers": (response) => new Set([response.headers, response.headers]).size,
  "changed headers": (response) => {
    response.headers.set("content-type", "text/html");
    response.headers.append("x-new", "1");
    return [...response.clone().headers];
  },
  "headers changed after the body was there": async (response) => {
    void response.body;
    response.headers.set("content-type", "text/html");
    return (await response.blob()).type;
  },
  text: (response) => response.text(),
  json: (response) => response.json(),
  arrayBuffer: (response) => response.arrayBuffer(),
  bytes: async (response) => [
    Object.getPrototypeOf(await (response.clone() as WithBytes).bytes()) === Uint8Array.prototype,
  ],
  blob: (response) => response.blob(),
  formData: (response) => response.formData(),
  body: (response) => response.body,
  "the same body": (response) => new Set([response.body, response.body]).size,
  stream: streamed,
  "used by text": async (response) => [
    response.bodyUsed,
    await response.text(),
    response.bodyUsed,
    response.body?.locked,
  ],
  "used by a stream": async (response) => [await streamed(response), response.bodyUsed],
  "asked for, not used": async (response) => [response.body?.locked, response.bodyUsed, await response.text()],
  "a clone": async (response) => {
    const clone = response.clone();
    return [clone.status, [...clone.headers], await clone.text(), response.bodyUsed, await response.text()];
  },
  "a clone of a clone": async (response) => {
    const clone = response.clone().clone();
    return [await clone.text(), await response.text(), clone.bodyUsed];
  },
  "a clone's own headers": (response) => {
    const clone = response.clone();
    clone.headers.set("x-mine", "1");
    return response.headers.has("x-mine");
  },
  "another response": async (response) => {
    const other = new Response(response.body, response);
    return [other.status, [...other.headers], await other.text(), response.bodyUsed];
  },
  locked: (response) => {
    response.body?.getReader();
    return response.text();
  },
  "clone after text": async (response) => {
    await response.text();
    return response.clone().text();
  },
};
for (const first of ["text", "arrayBuffer", "blob", "json"] as const) {
  for (const second of ["text", "json", "arrayBuffer", "bytes", "blob", "formData"] as const) {
    uses[`${second} after ${first}`] = async (response) => {
      await response[first]().catch(() => undefined);
      return (response as WithBytes)[second]();
    };
  }
}

describe.each(Object.entries(uses))("%s", (_, use) => {
  test.each([200, 201, 204, 304, 404, 599])("with status %i", async (status) => {
    for (const [head, body] of Object.keys(heads).flatMap((head) => Object.keys(bodies).map((body) => [head, body]))) {
      const headers = heads[head as keyof typeof heads].map(([name, value]): [string, string] => [name, value]);
      const given = bodies[body as keyof typeof bodies];
      const bytes = () => (typeof given === "string" ? new TextEncoder().encode(given) : given.slice());
      const bodiless = status === 204 || status === 304;
      const nodes = new Response(bodiless ? null : bytes(), { status, headers });
      const ours = new WholeResponse(status, headers.flat().join("\n"), bytes());
      expect(await outcome(() => use(ours)), `${head}, ${body}`).toEqual(await outcome(() => use(nodes)));
    }
  });
});

test("a body that is a part of a larger buffer", async () => {
  const answer = () => new WholeResponse(200, "", Buffer.from("-part-").subarray(1, 5) as Uint8Array<ArrayBuffer>);
  expect((await answer().arrayBuffer()).byteLength).toBe(4);
  expect(await answer().bytes()).toEqual(new TextEncoder().encode("part"));
  expect(await answer().text()).toBe("part");
});
