/** Rehearses an app that speaks `fetch` before the snapshot. */
import { encodeUtf8, platform } from "../platform.ts";
import type { RawRequest } from "../raw.ts";
import { atRehearsal } from "../rehearse.ts";
import type { App, Fetch } from "./types.ts";

/** The parts of a Hono app that a rehearsal uses. */
interface Hono extends App {
  readonly router: { match(method: string, path: string): unknown };
  readonly routes: readonly unknown[];
  get(path: string, handler: (c: Context) => unknown): unknown;
  post(path: string, handler: (c: Context) => unknown): unknown;
}

interface Context {
  readonly req: {
    query(): object;
    query(name: string): unknown;
    param(name: string): unknown;
    header(name: string): unknown;
    json(): Promise<unknown>;
  };
  json(value: unknown, status?: number, headers?: Readonly<Record<string, string>>): unknown;
  text(value: string): unknown;
}

/**
 * Rehearses the way of a request through an app before the snapshot, without any of the app's handlers or middleware: what they
 * set would be in all instances. Two apps stand in for it. One is plain; the other one is of the same framework, if that is Hono.
 * The routes of a Hono app are compiled too, which Hono does at the first request otherwise.
 *
 * @param answer answers a request with an app
 */
export function rehearseApp(app: App, answer: (app: App, raw: RawRequest) => unknown): void {
  const askAll = async (standIn: App) => {
    for (const request of requests()) await answer(standIn, request);
  };
  atRehearsal(() => askAll({ fetch: plain }));
  if (!isHono(app)) return;
  atRehearsal(() => app.router.match("GET", "/"));
  atRehearsal(() => askAll(standInFor(app)));
}

function requests(): RawRequest[] {
  const host: [string, Uint8Array] = ["host", encodeUtf8("localhost:3000")];
  // A URL parser sees this one.
  const defaultPort: [string, Uint8Array] = ["host", encodeUtf8("localhost:80")];
  const type: [string, Uint8Array] = ["content-type", encodeUtf8("application/json")];
  return [
    { method: "GET", pathWithQuery: "/a/x%20y?b=c", headers: [host] },
    { method: "GET", pathWithQuery: "/text", headers: [defaultPort] },
    { method: "POST", pathWithQuery: "/a/b", headers: [host, type], body: encodeUtf8("{}") },
  ];
}

/** Reads what apps read, and answers as they do. */
const plain: Fetch = async (request) => {
  const { method, url, headers } = request as unknown as { method: string; url: string; headers: Map<string, string> };
  new platform.URL(url);
  headers.get("accept");
  const { Response } = platform as unknown as { Response: new (body: string, init?: object) => never };
  if (method !== "POST") return new Response("x");
  const body = await (request as unknown as { json(): Promise<unknown> }).json();
  return new Response(JSON.stringify(body), { status: 201, headers: { "content-type": "application/json" } });
};

function isHono(app: App): app is Hono {
  const { router, routes } = app as Partial<Hono>;
  return typeof router?.match === "function" && Array.isArray(routes);
}

/** Makes an app of the framework's own class, because a class derived from it may do anything. */
function standInFor(app: Hono): Hono {
  let own: object = Object.getPrototypeOf(app);
  // A preset of Hono's extends the class that they share.
  for (;;) {
    const base = Object.getPrototypeOf(Object.getPrototypeOf(own));
    if (base === Object.prototype || base === null) break;
    own = Object.getPrototypeOf(own);
  }
  const standIn = new (own as { constructor: new () => Hono }).constructor();
  standIn.get("/text", (c) => c.text("x"));
  standIn.get("/a/:a", (c) => {
    c.req.header("accept");
    return c.json({ a: c.req.param("a"), b: c.req.query("b"), ...c.req.query() });
  });
  standIn.post("/a/:a", async (c) => c.json(await c.req.json(), 201, { location: "/" }));
  return standIn;
}
