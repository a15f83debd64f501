/** `URL` (URL Standard, section 6.1) over the engine's parser (`crates/engine/src/url.c`). */
import {
  type UrlHandle,
  urlHash,
  urlHost,
  urlHostname,
  urlHref,
  urlParse,
  urlPassword,
  urlPathname,
  urlPort,
  urlProtocol,
  urlSearch,
  urlSetHash,
  urlSetHost,
  urlSetHostname,
  urlSetHref,
  urlSetPassword,
  urlSetPathname,
  urlSetPort,
  urlSetProtocol,
  urlSetSearch,
  urlSetUsername,
  urlUsername,
} from "tenon:engine";
import { paramsOfUrl, replaceQuery, type URLSearchParams } from "./search-params.ts";

/** The schemes whose origin is their host. */
const tuples: readonly string[] = ["http:", "https:", "ws:", "wss:", "ftp:"];

export class URL {
  readonly #handle: UrlHandle;
  #params: URLSearchParams | undefined;

  // Parameters with defaults do not count for `length`. Without any argument, "undefined" is not valid either.
  constructor(url: string, base: string | undefined = undefined) {
    const handle = parse(url, base);
    if (handle === undefined) throw invalid(url, base);
    this.#handle = handle;
  }

  static parse(url: string, base: string | undefined = undefined): URL | null {
    // biome-ignore lint/complexity/noArguments: `undefined` is an argument.
    expect("parse", arguments.length);
    const text = `${url}`;
    const against = base === undefined ? undefined : `${base}`;
    return parse(text, against) === undefined ? null : new URL(text, against);
  }

  static canParse(url: string, base: string | undefined = undefined): boolean {
    // biome-ignore lint/complexity/noArguments: as above.
    expect("canParse", arguments.length);
    return parse(url, base) !== undefined;
  }

  get href(): string {
    return urlHref(this.#handle);
  }

  set href(value: string) {
    const handle = this.#handle;
    const text = `${value}`;
    if (!urlSetHref(handle, text)) throw invalid(text, undefined);
    if (this.#params !== undefined) reload(this.#params, handle);
  }

  get origin(): string {
    const handle = this.#handle;
    const protocol = urlProtocol(handle);
    if (tuples.includes(protocol)) return `${protocol}//${urlHost(handle)}`;
    if (protocol !== "blob:") return "null";
    // The path is the URL that the blob belongs to.
    const owner = urlParse(urlPathname(handle));
    const scheme = owner === undefined ? "" : urlProtocol(owner);
    return owner !== undefined && (scheme === "http:" || scheme === "https:") ? `${scheme}//${urlHost(owner)}` : "null";
  }

  get protocol(): string {
    return urlProtocol(this.#handle);
  }

  set protocol(value: string) {
    urlSetProtocol(this.#handle, `${value}`);
  }

  get username(): string {
    return urlUsername(this.#handle);
  }

  set username(value: string) {
    urlSetUsername(this.#handle, `${value}`);
  }

  get password(): string {
    return urlPassword(this.#handle);
  }

  set password(value: string) {
    urlSetPassword(this.#handle, `${value}`);
  }

  get host(): string {
    return urlHost(this.#handle);
  }

  set host(value: string) {
    urlSetHost(this.#handle, `${value}`);
  }

  get hostname(): string {
    return urlHostname(this.#handle);
  }

  set hostname(value: string) {
    urlSetHostname(this.#handle, `${value}`);
  }

  get port(): string {
    return urlPort(this.#handle);
  }

  set port(value: string) {
    urlSetPort(this.#handle, `${value}`);
  }

  get pathname(): string {
    return urlPathname(this.#handle);
  }

  set pathname(value: string) {
    urlSetPathname(this.#handle, `${value}`);
  }

  get search(): string {
    return urlSearch(this.#handle);
  }

  set search(value: string) {
    const handle = this.#handle;
    urlSetSearch(handle, `${value}`);
    if (this.#params !== undefined) reload(this.#params, handle);
  }

  get searchParams(): URLSearchParams {
    const handle = this.#handle;
    this.#params ??= paramsOfUrl(urlSearch(handle).slice(1), (query) => urlSetSearch(handle, query));
    return this.#params;
  }

  get hash(): string {
    return urlHash(this.#handle);
  }

  set hash(value: string) {
    urlSetHash(this.#handle, `${value}`);
  }

  toJSON(): string {
    return urlHref(this.#handle);
  }

  toString(): string {
    return urlHref(this.#handle);
  }
}

function parse(url: string, base: string | undefined): UrlHandle | undefined {
  return base === undefined ? urlParse(`${url}`) : urlParse(`${url}`, `${base}`);
}

function reload(params: URLSearchParams, handle: UrlHandle): void {
  replaceQuery(params, urlSearch(handle).slice(1));
}

function invalid(url: string, base: string | undefined): TypeError {
  return new TypeError(base === undefined ? `Invalid URL: ${url}` : `Invalid URL: ${url} with the base ${base}`);
}

function expect(method: string, given: number): void {
  if (given === 0) throw new TypeError(`URL.${method}: expects an argument`);
}
