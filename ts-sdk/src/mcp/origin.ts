/** The check of `Origin` and `Host`, against DNS rebinding. */
import { originOf, type Request, rawOf } from "../http/request.ts";
import type { Around } from "../routing/step.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** An address, whose name no DNS can change. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/;
const ORIGIN = /^(https?):\/\/((?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?)$/i;

/** The part of `cors` that decides about an origin. */
interface Allowing extends Around {
  allows?(origin: string, request: Request): Promise<boolean>;
}

/**
 * Reports whether the page that asks may: a program sends no `Origin`, and a browser always does. A page may ask its own
 * server, by `https`, or by an address or a name that always means the same computer; a page of that computer may ask
 * it; and a page whose origin the app's `cors` lists. Any other name may have been made to point at this server.
 */
export async function isAllowedOrigin(request: Request, use: readonly Around[]): Promise<boolean> {
  const all = request.headers.getAll("origin");
  if (all.length === 0) return true;
  const [origin = ""] = all;
  const [, scheme, from = ""] = ORIGIN.exec(origin) ?? [];
  // "null" is the origin of every sandboxed page.
  if (all.length > 1 || origin === "null") return false;
  if (scheme !== undefined) {
    const host = originOf(rawOf(request)).host?.toLowerCase() ?? "";
    const name = nameOf(host);
    if (LOOPBACK.test(name) && LOOPBACK.test(nameOf(from))) return true;
    if (from.toLowerCase() === host && (scheme.toLowerCase() === "https" || ADDRESS.test(name))) return true;
  }
  for (const each of use as readonly Allowing[]) {
    if (await each.allows?.(origin, request)) return true;
  }
  return false;
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, "");
}
