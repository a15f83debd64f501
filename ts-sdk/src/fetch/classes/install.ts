import { platform } from "../../platform.ts";
import { native } from "./body.ts";
import { Headers } from "./headers.ts";
import { BODY } from "./message.ts";
import { Request, type RequestInit } from "./request.ts";
import { fetchedResponse, type NativeResponse, Response } from "./response.ts";

/**
 * Replaces the engine's `Headers`, `Request` and `Response`. The engine's own are handles of the host: each costs
 * several calls, and an instance that used one can't be restored. `fetch` takes and returns these.
 */
export function installFetchClasses(): void {
  const engineFetch = platform.fetch as unknown as (url: string, init: object) => Promise<NativeResponse>;
  const values = { Headers, Request, Response, fetch: fetchWith(engineFetch) };
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(platform, name, { value, writable: true, configurable: true });
    // A bundler gives them other names, which messages and `constructor.name` would show.
    Object.defineProperty(value, "name", { value: name, configurable: true });
  }
}

function fetchWith(engineFetch: (url: string, init: object) => Promise<NativeResponse>) {
  return async (input: unknown, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const headers = new native.Headers();
    for (const [name, value] of request.headers) headers.append(name, value);
    const { method, redirect } = request as unknown as { method: string; redirect: string };
    const body = request[BODY]?.take() ?? request.body ?? undefined;
    const given = body === undefined ? {} : { body, duplex: "half" };
    const signal = init?.signal === undefined || init.signal === null ? {} : { signal: init.signal };
    return fetchedResponse(await engineFetch(request.url, { method, headers, redirect, ...given, ...signal }));
  };
}
