/** `data:` URLs (Fetch, section 6). */
import { platform } from "../../platform.ts";
import { Headers } from "./headers.ts";
import { fetchedResponse, type Response } from "./response.ts";

const FORM = /^data:([^,]*),([^#]*)/s;
const BASE64 = /; *base64$/i;
const SPACE = /[\t\n\f\r ]+/g;
const TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:;|$)/;

/**
 * Answers with the content of a `data:` URL.
 *
 * @throws TypeError for one that is malformed
 */
export function dataResponse(url: string, method: string): Response {
  const found = FORM.exec(url);
  if (found === null) throw new TypeError("fetch: a data: URL must have a comma after its type");
  let type = (found[1] as string).trim();
  let content = percentDecoded(found[2] as string);
  if (BASE64.test(type)) {
    type = type.replace(BASE64, "").trim();
    try {
      content = platform.atob(content.replace(SPACE, ""));
    } catch (cause) {
      throw new TypeError("fetch: the content of the data: URL must be in base64", { cause });
    }
  }
  if (type.startsWith(";")) type = `text/plain${type}`;
  if (!TYPE.test(type)) type = "text/plain;charset=US-ASCII";
  const body = method === "HEAD" ? null : Uint8Array.from(content, (char) => char.charCodeAt(0));
  const headers = new Headers({ "content-type": type });
  return fetchedResponse({ status: 200, statusText: "OK", url, redirected: false, headers, body });
}

/** The bytes of a text with percent escapes, each as one character. The URL parser has escaped all others. */
function percentDecoded(text: string): string {
  return text.replace(/%([\dA-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
