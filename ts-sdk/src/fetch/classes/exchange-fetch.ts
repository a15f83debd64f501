/** Exchanges by the `fetch` of an engine that has one. */
import { platform } from "../../platform.ts";
import { abortable } from "./abortable.ts";
import type { Stream } from "./body.ts";
import type { Exchange } from "./fetch.ts";
import { Headers } from "./headers.ts";

/** The engine's `fetch`. */
export type EngineFetch = (url: string, init: object) => Promise<EngineResponse>;

/** A response of the engine's `fetch`. */
interface EngineResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: Stream | null;
}

/** The engine's own class, before ours replaced it. */
const EngineHeaders = platform.Headers;

/** Makes exchanges by the engine's `fetch`. */
export function exchangeByFetch(engineFetch: EngineFetch): Exchange {
  return async ({ url, method, headers: given, body }, signal) => {
    const headers = new EngineHeaders();
    for (const [name, value] of given) headers.append(name, value);
    const content = body === undefined ? {} : { body, duplex: "half" };
    const pending = engineFetch(url.href.replace(/#.*$/s, ""), { method, headers, redirect: "manual", ...content });
    const response = await (signal === undefined ? pending : abortable(signal, pending));
    return {
      status: response.status,
      statusText: response.statusText,
      headers: new Headers([...response.headers]),
      body: response.body,
    };
  };
}
