import { beforeEach, describe, expect, it } from "vitest";
import { type App, error, get, middleware, ok, routes } from "../index.ts";
import { testApp } from "../testing/index.ts";
import { client } from "./index.ts";

const LIST = "/.well-known/tenon-routes";
const both = { text: get("/text", () => ok("a")), more: get("/more", () => ok("b")) };
const refuses = middleware((req, next) => {
  const status = Number(req.headers.get("x-refuse") ?? 0);
  return status === 0 ? next() : error(status, "not now").header("retry-after", "7");
});

/** The app that answers, and the paths that it was called with. */
let deployed: App;
let asked: string[];
beforeEach(() => {
  deployed = routes(both, { use: [refuses] });
  asked = [];
});

const fetch = async (url: string, { method = "GET", headers }: RequestInit) => {
  const { pathname } = new URL(url);
  asked.push(pathname);
  const answer = await testApp(deployed).request(method, pathname, { headers: headers as Record<string, string> });
  return new Response(answer.bytes(), { status: answer.status, headers: [...answer.headers] as [string, string][] });
};
const make = (headers: Record<string, string> = {}) => client<App<typeof both>>("http://a/", { fetch, headers });

describe("the list of routes", () => {
  describe("when it is refused", () => {
    it("is the answer of the call, and is asked for again", async () => {
      let status = 503;
      const headers = () => ({ "x-refuse": String(status) });
      const api = client<App<typeof both>>("http://a/", { fetch, headers });
      const refused = await api.text();
      expect(refused).toMatchObject({ ok: false, status: 503, problem: { status: 503, detail: "not now" } });
      expect(refused.headers.get("retry-after")).toBe("7");
      status = 0;
      expect(await api.text()).toMatchObject({ ok: true, data: "a" });
      expect(asked).toEqual([LIST, LIST, "/text"]);
    });

    it("is no failure of calls with other headers", async () => {
      const api = make();
      const call = (status: number) => api.text({ headers: { "x-refuse": String(status) } });
      const answers = await Promise.all([503, 503, 429, 0, 0].map(call));
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 429, 200, 200]);
      expect(asked.sort()).toEqual([LIST, LIST, LIST, "/text", "/text"]);
    });
  });

  it("is asked for with the headers of the call, but not with those about its body", async () => {
    const sent: unknown[] = [];
    const recording = async (url: string, init: RequestInit) => {
      sent.push(init.headers);
      return fetch(url, init);
    };
    const api = client<App<typeof both>>("http://a/", { fetch: recording, headers: { "X-Refuse": "429" } });
    expect(await api.text()).toMatchObject({ ok: false, status: 429 });
    const headers = { "x-refuse": "0", "If-Match": "x", "Content-Language": "de" };
    expect(await api.text({ headers })).toMatchObject({ ok: true });
    expect(sent[1]).toEqual({ accept: "application/json", "x-refuse": "0" });
  });

  it("is shared by calls at once with any headers", async () => {
    const api = make();
    await Promise.all(["1", "2", "3"].map((n) => api.text({ headers: { "x-trace": n } })));
    expect(asked).toEqual([LIST, "/text", "/text", "/text"]);
  });

  it("is asked for again when it lacks a name, as after a deployment", async () => {
    deployed = routes({ text: both.text });
    const api = make();
    await expect(api.more()).rejects.toThrow('the server has no route called "more"');
    deployed = routes(both);
    await Promise.all([api.more(), api.more(), api.text()]);
    await api.more();
    expect(asked).toEqual([LIST, LIST, "/text", "/more", "/more", "/more"]);
  });

  it("is a JSON object with status 200", async () => {
    const answer = (given: Response) => client<App<typeof both>>("http://a/", { fetch: async () => given }).text();
    const empty = { ok: false, status: 204, problem: { title: "The server answered 204" } };
    expect(await answer(new Response(null, { status: 204 }))).toMatchObject(empty);
    for (const text of ["<!doctype html>", "null", "[]"]) {
      await expect(answer(new Response(text))).rejects.toThrow("client: the server has no list of routes");
    }
  });
});
