/** Discovery: a client asks the server for its routes, because it knows their names alone. */
import { type ListedRoute, ROUTES_PATH } from "../http/routes-path.ts";
import type { LowerCased } from "./merge-headers.ts";
import type { Send, ServerAnswer } from "./send.ts";

type RouteList = ReadonlyMap<string, ListedRoute>;

/** Headers about a call's body or its version, which the list of routes does not have. */
const OF_CALL = /^(?:content-|if-|range$)/;

/**
 * Makes the function that finds a route by its name. It asks the server at the first call, and again for a name that
 * the list lacks, because the server may have been deployed since. It resolves to the server's answer when that is not
 * the list, as when a middleware of the app refuses the request.
 *
 * @throws Error when the server has no such route, or no list.
 */
export function discovery(send: Send): (name: string, headers: LowerCased) => Promise<ListedRoute | ServerAnswer> {
  let known: RouteList | undefined;
  /** The requests under way, by their headers. */
  const pending = new Map<string, Promise<RouteList | ServerAnswer>>();

  async function ask(headers: LowerCased): Promise<RouteList | ServerAnswer> {
    const answer = await send("GET", ROUTES_PATH, headers, undefined);
    if (answer.status !== 200) return answer;
    known = parseList(answer.text);
    return known;
  }

  async function load(headers: LowerCased): Promise<RouteList | ServerAnswer> {
    const key = JSON.stringify(Object.entries(headers).sort());
    const [other] = pending.values();
    if (other !== undefined && !pending.has(key)) {
      // A refusal may be due to the other call's headers.
      const shared = await other.catch(() => undefined);
      if (shared instanceof Map) return shared;
    }
    const started = pending.get(key) ?? ask(headers).finally(() => pending.delete(key));
    pending.set(key, started);
    return started;
  }

  return async (name, headers) => {
    const kept = known?.get(name);
    if (kept !== undefined) return kept;
    const list = await load(Object.fromEntries(Object.entries(headers).filter(([each]) => !OF_CALL.test(each))));
    if (!(list instanceof Map)) return list as ServerAnswer;
    const found = list.get(name);
    if (found === undefined) throw new Error(`client: the server has no route called "${name}"`);
    return found;
  };
}

function parseList(text: string): RouteList {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (typeof list !== "object" || list === null || Array.isArray(list)) {
    throw new Error(`client: the server has no list of routes at ${ROUTES_PATH}`);
  }
  return new Map(Object.entries(list as Record<string, ListedRoute>));
}
