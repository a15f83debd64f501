/** The parts of a request that reach the API when rules say what is allowed, besides its method and path. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { TenonError } from "../errors.ts";

/**
 * Request headers that say nothing about the method, the path or the client's address. Others, such as
 * `X-HTTP-Method-Override`, `X-Original-URL` and `X-Forwarded-Prefix`, make some servers answer another request than the
 * one that a rule allows.
 */
const FORWARDED = new Set(
  (
    "accept accept-charset accept-encoding accept-language authorization baggage cache-control content-digest " +
    "content-disposition content-encoding content-language content-location content-md5 content-range content-type cookie " +
    "date digest from idempotency-key if-match if-modified-since if-none-match if-range if-unmodified-since pragma prefer " +
    "range repr-digest signature signature-input traceparent tracestate user-agent want-content-digest x-correlation-id " +
    "x-request-id"
  ).split(" "),
);

/** Fields of a query or a form that name another method for some servers: Rails, Laravel, Symfony, Salesforce. */
const METHOD_FIELDS = new Set([
  ...["_method", "_httpmethod", "_http_method", "_method_override", "http_method_override", "$httpmethod"],
  ...["x_http_method", "x_http_method_override", "x_method_override"],
]);

/**
 * Checks names of additional headers.
 *
 * @throws TenonError `CONFIG`
 */
export function forwardedNames(added: readonly string[]): ReadonlySet<string> {
  const wrong = added.find((name) => !/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name));
  if (wrong !== undefined) {
    throw new TenonError(
      "CONFIG",
      `${JSON.stringify(wrong)} is not the name of a header`,
      "write one name each: stripe-version",
    );
  }
  return new Set([...FORWARDED, ...added.map((name) => name.toLowerCase())]);
}

/** Returns the headers with these names. */
export function only(headers: OutgoingHttpHeaders, names: ReadonlySet<string>): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.has(name)));
}

/** Returns the field of a query or of a form that names another method, if there is one. */
export function methodField(url: string, headers: IncomingHttpHeaders, body: Buffer): string | undefined {
  const at = url.indexOf("?");
  const query = at < 0 ? undefined : fieldOf(url.slice(at + 1));
  if (query !== undefined) return query;
  const type = headers["content-type"] ?? "";
  if (/^\s*application\/x-www-form-urlencoded/i.test(type)) return fieldOf(body.toString("latin1"));
  if (!/^\s*multipart\//i.test(type)) return undefined;
  const names = body.toString("latin1").matchAll(/\bname\*?\s*=\s*(?:"([^"\r\n]*)"|([^\s;"]+))/gi);
  for (const [, quoted, bare = ""] of names) {
    // An extended name has its encoding first: `utf-8''_method`.
    const name = (quoted ?? bare).replace(/^[\w-]*'[\w-]*'/, "");
    if (isMethod(name)) return name;
  }
  return undefined;
}

/** Returns the first field of an encoded form that names a method. Some servers separate fields with `;`. */
function fieldOf(form: string): string | undefined {
  return form
    .split(/[&;]/)
    .map((field) => field.split("=", 1)[0] ?? "")
    .find(isMethod);
}

/** Reports whether a field names a method, also as PHP and Rack read it: `_method[]`, ` _method`, `%5Fmethod`. */
function isMethod(encoded: string): boolean {
  const plain = encoded
    .replaceAll("+", " ")
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const name = plain
    .trim()
    .replace(/[[\0].*$/s, "")
    .toLowerCase();
  return METHOD_FIELDS.has(name.replace(/[-. ]/g, "_"));
}
