/** The error statuses in the IANA registry of HTTP status codes. */
export type ErrorStatus =
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418)
  | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451)
  | (500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 511);

/** The statuses that redirect a client, or refer it to its cache. */
export type RedirectStatus = 300 | 301 | 302 | 303 | 304 | 307 | 308;

// By class, from 400 and from 500 on; an empty entry is a status without a phrase.
const PHRASES = [
  "Bad Request,Unauthorized,Payment Required,Forbidden,Not Found,Method Not Allowed,Not Acceptable," +
    "Proxy Authentication Required,Request Timeout,Conflict,Gone,Length Required,Precondition Failed,Content Too Large," +
    "URI Too Long,Unsupported Media Type,Range Not Satisfiable,Expectation Failed,I'm a teapot,,,Misdirected Request," +
    "Unprocessable Content,Locked,Failed Dependency,Too Early,Upgrade Required,,Precondition Required,Too Many Requests,," +
    "Request Header Fields Too Large",
  "Internal Server Error,Not Implemented,Bad Gateway,Service Unavailable,Gateway Timeout,HTTP Version Not Supported," +
    "Variant Also Negotiates,Insufficient Storage,Loop Detected,,,Network Authentication Required",
].map((phrases) => phrases.split(","));

/** The reason phrase of an error status in the IANA registry of HTTP status codes, else that of its class. */
export function reasonPhrase(status: number): string {
  if (status === 451) return "Unavailable For Legal Reasons";
  return PHRASES[status < 500 ? 0 : 1]?.[status % 100] || (status < 500 ? "Client Error" : "Server Error");
}

/** The reason phrases of usual answers that are no errors. */
export const PHRASES_BELOW_400: Readonly<Record<number, string>> = {
  201: "Created",
  202: "Accepted",
  204: "No Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
};

/** Reports whether an answer with this status never has a body (RFC 9110 section 6.4.1). */
export function isBodiless(status: number | undefined): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** Reports whether a status is a redirect (Fetch, section 2.2.3). */
export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}
