/** `node:url` inside a component: the engine's classes, and Node's older functions. */
import {
  domainToASCII,
  domainToUnicode,
  fileURLToPath,
  format,
  pathToFileURL,
  resolve,
  resolveObject,
  Url,
  urlToHttpOptions,
} from "unenv/node/url";

export const { URL, URLSearchParams } = globalThis;

/** Node's own parser from before `URL`. The package's parser prints a warning for every request. */
export function parse(url: unknown, parseQueryString = false, slashesDenoteHost = false): unknown {
  if (url instanceof Url) return url;
  const parsed = new Url() as unknown as { parse(...args: unknown[]): void };
  parsed.parse(url, parseQueryString, slashesDenoteHost);
  return parsed;
}

export {
  domainToASCII,
  domainToUnicode,
  fileURLToPath,
  format,
  pathToFileURL,
  resolve,
  resolveObject,
  Url,
  urlToHttpOptions,
};
export default {
  URL,
  URLSearchParams,
  Url,
  domainToASCII,
  domainToUnicode,
  fileURLToPath,
  format,
  parse,
  pathToFileURL,
  resolve,
  resolveObject,
  urlToHttpOptions,
};
