/** An `http` URL of a request target: no user name, no fragment, and a host of letters, digits, `.`, `-`, `_` or IPv6. */
const ABSOLUTE = /^http:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?(?=[/?]|$)/i;

/**
 * Returns the path and the query of a request target that is an `http` URL, which a server must accept (RFC 9112,
 * section 3.2.2). The text is not parsed as a URL, because that would resolve `..` before the path is checked. Every
 * other target is returned as it is.
 */
export function originForm(target: string): string {
  const rest = target.replace(ABSOLUTE, "");
  return rest === target || rest.startsWith("/") ? rest : `/${rest}`;
}
