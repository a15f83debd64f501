import { originOf, rootedPath, urlOf } from "../http/request.ts";
import type { RawRequest } from "../raw.ts";

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const NAME = "(?:[a-z\\d]+(?:-[a-z\\d]+)*\\.)*[a-z]+";
/**
 * Hosts that the URL standard leaves unchanged, as nearly all are. Addresses in other forms, names in Punycode, and ports that may be
 * the default are left to a parser.
 */
const CANONICAL_HOST = new RegExp(`^(?:${NAME}|(?:${OCTET}\\.){3}${OCTET})(?::(?!(?:80|443)$)[1-9]\\d{0,3})?$`);
/** Paths and queries that it leaves unchanged: no segment begins with a dot or an escape. */
const CANONICAL_PATH = /^(?:\/(?:[\w~!$&'()*+,;=:@-][\w.~!$&'()*+,;=:@%-]*)?)+(?:\?[\w.~!$&()*+,;=:@%/?-]*)?$/;

/**
 * The absolute URL of a request, with the scheme and the host that the client used. A framework asks for it at each request, and a
 * parser takes the engine longer than these expressions.
 */
export function requestUrl(raw: RawRequest): string {
  const origin = originOf(raw);
  const path = rootedPath(raw);
  const { scheme, host } = origin;
  if (host !== undefined && CANONICAL_HOST.test(host) && CANONICAL_PATH.test(path)) return `${scheme}://${host}${path}`;
  return urlOf(origin, path);
}
