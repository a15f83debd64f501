import { Headers } from "../http/headers.ts";
import type { TestApp } from "../testing/test-app.ts";
import type { ClientOptions } from "./index.ts";
import type { LowerCased } from "./merge-headers.ts";

/** A server's answer. */
export interface ServerAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends a request, and reads its answer to the end. */
export type Send = (
  method: string,
  path: string,
  headers: LowerCased,
  body: RequestBody | undefined,
) => Promise<ServerAnswer>;

/** A body in the form in which it is sent. */
export type RequestBody = string | FormData | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/**
 * Makes the function that sends requests to a server, or to an app under test.
 *
 * @throws TypeError when the target is not an http or https URL.
 */
export function senderTo(target: string | URL | TestApp, fetch: ClientOptions["fetch"]): Send {
  return isTestApp(target) ? sendToTest(target) : sendTo(target, fetch);
}

function sendTo(target: string | URL, fetch: ClientOptions["fetch"]): Send {
  let base: URL;
  try {
    base = new URL(target);
  } catch {
    throw new TypeError('client: expects the URL of a module, such as "https://host/run/shop", or testApp(app)');
  }
  if (!/^https?:$/.test(base.protocol)) throw new TypeError("client: expects an http or https URL");
  const at = `${base.origin}${base.pathname.replace(/\/$/, "")}`;
  return async (method, path, headers, body) => {
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = body;
    // A stream is sent while it is read (Fetch, section 5.4).
    if (body instanceof ReadableStream) Object.assign(init, { duplex: "half" });
    // Looked up now, because a test may have replaced it.
    const response = await (fetch ?? globalThis.fetch)(at + path, init);
    return { status: response.status, headers: new Headers([...response.headers]), text: await response.text() };
  };
}

function isTestApp(target: string | URL | TestApp): target is TestApp {
  return typeof (target as Partial<TestApp>).request === "function";
}

function sendToTest(app: TestApp): Send {
  return async (method, path, headers, body) => {
    const given: { headers: Record<string, string>; body?: string | Uint8Array } = { headers: { ...headers } };
    if (typeof body === "string") given.body = body;
    else if (body !== undefined) {
      const encoded = new Response(body);
      given.headers["content-type"] ??= encoded.headers.get("content-type") ?? "";
      given.body = new Uint8Array(await encoded.arrayBuffer());
    }
    const answer = await app.request(method, path, given);
    return { status: answer.status, headers: answer.headers, text: (await answer.read()).text() };
  };
}
