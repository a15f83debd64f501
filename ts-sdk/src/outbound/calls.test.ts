/** The client makes a request as one call, and turns each outcome into a response or an error. */
import { afterEach, describe, expect, it } from "vitest";
import { callsKey } from "../abi.ts";
import { HttpClientError, httpClient } from "../index.ts";
import { type CallOutcome, type OutgoingCall, platform } from "../platform.ts";

const made: OutgoingCall[] = [];

function answerWith(outcome: CallOutcome): void {
  made.length = 0;
  platform[callsKey] = async (call) => {
    made.push(call);
    return outcome;
  };
}

afterEach(() => {
  delete platform[callsKey];
});

const bytes = (text: string) => new TextEncoder().encode(text);
const failed = (sent: Promise<unknown>) =>
  sent.then(
    () => ["answered"],
    ({ code, message }: HttpClientError) => [code, message],
  );

describe("a call as a whole", () => {
  it("has all of the request, and gives all of the response", async () => {
    const headers: [string, Uint8Array][] = [
      ["set-cookie", bytes("a=1")],
      ["x-latin", new Uint8Array([0xe9])],
      ["set-cookie", bytes("b=2")],
    ];
    answerWith({ status: 201, headers, body: bytes('{"a":1}') });
    const url = "http://Example.test:80/a b?c=é#fragment";
    const response = await httpClient.request().method("post", url).header("X-A", "\xe9").json({ a: 1 }).send();
    expect(made).toEqual([
      {
        method: "POST",
        url: "http://example.test/a%20b?c=%C3%A9",
        headers: [
          ["x-a", new Uint8Array([0xe9])],
          ["content-type", bytes("application/json")],
        ],
        body: bytes('{"a":1}'),
        timeoutMs: 30_000,
        maxBytes: 10 * 1024 * 1024,
      },
    ]);
    expect([response.status, response.ok, response.json()]).toEqual([201, true, { a: 1 }]);
    expect(response.headers.getAll("Set-Cookie")).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("x-latin")).toBe("\xe9");
  });

  it.each([
    [0, "refused", "GET a.test: the host refused"],
    [1, "unreachable", "GET a.test: the host is unreachable"],
    [2, "timeout", "GET a.test: no answer within 5 ms"],
    [3, "too_large", "the answer is larger than 7 bytes"],
    [4, "invalid", "GET a.test: why"],
    [5, "unreachable", "GET a.test: the host is unreachable"],
    [99, "unreachable", "GET a.test: the host is unreachable"],
  ] as const)("that fails with the reason %i is %s", async (reason, code, message) => {
    answerWith({ reason, detail: "why" });
    const sent = httpClient.request().get("http://a.test/secret").timeout(5).maxBytes(7).send();
    await expect(sent).rejects.toBeInstanceOf(HttpClientError);
    expect(await failed(sent)).toEqual([code, message]);
  });

  it.each([
    [0, 1],
    [-5, 1],
    [Number.NaN, 1],
    [0.5, 1],
    [1500.9, 1500],
    [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ])("with a timeout of %d ms has %i", async (timeout, expected) => {
    answerWith({ status: 200, headers: [], body: bytes("") });
    await httpClient.request().get("http://a.test/").timeout(timeout).send();
    expect(made[0]?.timeoutMs).toBe(expected);
  });

  it.each([
    [0, 1],
    [100, 100],
    [Number.POSITIVE_INFINITY, 2 ** 32 - 1],
  ])("with a limit of %d bytes has %i, and no more than that is taken", async (limit, expected) => {
    answerWith({ status: 200, headers: [], body: bytes("x") });
    const sent = failed(httpClient.request().get("http://a.test/").maxBytes(limit).send());
    expect(await sent).toEqual(limit === 0 ? ["too_large", "the answer is larger than 0 bytes"] : ["answered"]);
    expect(made[0]?.maxBytes).toBe(expected);
  });

  it("is not made for what can't be sent", async () => {
    answerWith({ status: 200, headers: [], body: bytes("") });
    const request = () => httpClient.request();
    expect((await failed(request().get("/relative").send()))[0]).toBe("invalid");
    expect((await failed(request().get("http://user:word@a.test/").send()))[0]).toBe("invalid");
    expect((await failed(request().method("TRACE", "http://a.test/").send()))[0]).toBe("invalid");
    expect((await failed(request().method("get", "http://a.test/").body("x").send()))[0]).toBe("invalid");
    expect(made).toEqual([]);
  });
});
