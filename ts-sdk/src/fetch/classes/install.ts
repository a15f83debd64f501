import { callStreamsKey } from "../../abi.ts";
import { platform } from "../../platform.ts";
import { exchangeByCalls } from "./exchange-calls.ts";
import { type EngineFetch, exchangeByFetch } from "./exchange-fetch.ts";
import { type Exchange, fetchWith } from "./fetch.ts";
import { Headers } from "./headers.ts";
import { Request } from "./request.ts";
import { Response } from "./response.ts";

let isInstalled = false;

/**
 * Defines `fetch`, `Headers`, `Request` and `Response`, in the place of an engine's own. Those are handles of the host in some
 * engines: each costs several calls, and an instance that used one can't be restored.
 */
export function installFetchClasses(): void {
  if (isInstalled) return;
  isInstalled = true;
  const engineFetch = platform.fetch as EngineFetch | undefined;
  const values = {
    Headers,
    Request,
    Response,
    fetch: fetchWith(engineFetch ? exchangeByFetch(engineFetch) : callExchange),
  };
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(platform, name, { value, writable: true, configurable: true });
  }
  // A bundler gives it another name.
  Object.defineProperty(values.fetch, "name", { value: "fetch", configurable: true });
}

/** Makes an exchange by a call of the host, whose functions are there when a request is. */
const callExchange: Exchange = (hop, signal) => {
  const calls = platform[callStreamsKey];
  if (calls === undefined) throw new TypeError("fetch: this component cannot call other hosts");
  return exchangeByCalls(calls, hop, signal);
};
