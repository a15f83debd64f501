import { platform } from "../../platform.ts";
import { type EngineFetch, fetchWith } from "./fetch.ts";
import { Headers } from "./headers.ts";
import { Request } from "./request.ts";
import { Response } from "./response.ts";

let isInstalled = false;

/**
 * Replaces the engine's `Headers`, `Request` and `Response`. The engine's own are handles of the host: each costs
 * several calls, and an instance that used one can't be restored. `fetch` takes and returns these.
 */
export function installFetchClasses(): void {
  if (isInstalled) return;
  isInstalled = true;
  const engineFetch = platform.fetch as unknown as EngineFetch;
  const values = { Headers, Request, Response, fetch: fetchWith(engineFetch) };
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(platform, name, { value, writable: true, configurable: true });
    // A bundler gives them other names, which messages and `constructor.name` would show.
    Object.defineProperty(value, "name", { value: name, configurable: true });
  }
}
