/** Checks of addresses in `tenon.toml`. */
import { isIP, isIPv6 } from "node:net";

/**
 * The reason why a text is not a sidecar's address, by the rules of `crates/transport/src/address.rs`; a test compares
 * the two.
 *
 * @param is the sign between a key and its value in the hint: TOML's or JavaScript's
 */
export function sidecarProblem(address: string, is: " =" | ":" = " ="): string | undefined {
  if (address.startsWith("unix://")) {
    return /^unix:\/\/\/./s.test(address)
      ? undefined
      : "needs an absolute path: unix:///path/to.sock, with three slashes";
  }
  const [, kind] = stores.find(([scheme]) => scheme.test(address)) ?? [];
  if (kind !== undefined)
    return `must be http://host:port or unix:///path/to.sock; for this store itself write { run${is} "${kind}", url${is} "env:NAME" }`;
  if (!address.startsWith("http://")) return "must be http://host:port or unix:///path/to.sock";
  const [, host, port] = /^http:\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?\/?$/.exec(address) ?? [];
  if (host === undefined || !isHost(host))
    return "must be no more than http://host:port: credentials, path and query belong elsewhere";
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535)) return "has no port from 1 to 65535";
  return undefined;
}

/** URLs of stores, with the kind of the sidecar for each. */
const stores: readonly (readonly [scheme: RegExp, kind: string])[] = [
  [/^(?:postgres|postgresql|sqlite|mysql):/i, "sql"],
  [/^rediss?:/i, "kv"],
  [/^(?:s3|file):/i, "storage"],
];

/** Accepts names and IPv4 addresses, whose characters are checked already, and valid IPv6 addresses in brackets. */
const isHost = (host: string) => !host.startsWith("[") || isIPv6(host.slice(1, -1));

/** Reports whether a URL has a password: before an `@`, or as a parameter. */
export function hasPassword(url: string): boolean {
  return (
    /^[a-z0-9+.-]+:\/\/[^/?#]*:[^/?#]*@/i.test(url) ||
    /[?&](password|pass|sslpassword|sentinel_password|token)=/i.test(url)
  );
}

/** 1 to 65535 in at most five digits, up to the end of the address. */
const port = "(?!0+/?$)(?:[0-5]?[0-9]{1,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const bracketed = "\\[[0-9A-Fa-f:.]+\\]";

/** {@link sidecarProblem} in JSON Schema. */
export const sidecarRule = {
  pattern: `^(?:unix:///[\\s\\S]|http://(?:${bracketed}|[A-Za-z0-9._-]+)(?::${port})?/?$)`,
};

/** An address to listen on: `127.0.0.1:9090`, `[::]:9090` or `localhost:9090`. */
const LISTEN = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):([0-9]{1,5})$/;

/** The reason why a text is not an address to listen on. */
export function listenProblem(address: string): string | undefined {
  const [, , , port] = LISTEN.exec(address) ?? [];
  return port === undefined || Number(port) > 65_535 ? "must be host:port, such as 0.0.0.0:9090" : undefined;
}

/** {@link listenProblem} in JSON Schema. */
export const listenRule = { pattern: LISTEN.source };

const COLLECTOR = /^https?:\/\/[^\s/?#]+(?:\/[^\s?#]*)?$/;

/** The reason why a text is not the address of a collector (`crates/runtime/src/telemetry/otlp`). */
export function collectorProblem(address: string): string | undefined {
  return COLLECTOR.test(address) ? undefined : "must be a URL such as http://collector:4318";
}

/** {@link collectorProblem} in JSON Schema. */
export const collectorRule = { pattern: COLLECTOR.source };

/** The host and the port of an address to listen on. */
export function hostAndPort(address: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain = "", port] = LISTEN.exec(address) ?? [];
  return { host: bracketed ?? plain, port: Number(port) };
}

/** The reason why a text is not a Unix socket to listen on. */
export function socketProblem(address: string): string | undefined {
  return /^unix:\/\/\/.*[^/]$/s.test(address) ? undefined : "must be unix:///path/to.sock";
}

/** {@link socketProblem} in JSON Schema. */
export const socketRule = { pattern: "^unix:///.*[^/]$" };

/** {@link outboundProblem} in JSON Schema. */
export const outboundRule = {
  items: { type: "string", pattern: `^(?:https?://)?(?:${bracketed}|[A-Za-z0-9._-]+)(?::${port})?$` },
};

/** The variable in which a module finds a sidecar, by the rules of `crates/transport/src/address.rs`. */
export function sidecarVariable(name: string): string {
  return `SIDECAR_${name.toUpperCase().replaceAll("-", "_")}_URL`;
}

/** Why a list of proxies is refused; undefined when each entry is an address or a network. */
export function proxiesProblem(proxies: readonly string[]): string | undefined {
  for (const [index, proxy] of proxies.entries()) {
    const [, address = "", bits] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(proxy) ?? [];
    const family = address.includes("%") ? 0 : isIP(address);
    if (family !== 0 && Number(bits ?? 0) <= (family === 4 ? 32 : 128)) continue;
    const which = proxies.length === 1 ? "has an entry" : `has as entry ${index + 1} one`;
    return `${which} that is neither an address such as 10.0.0.7 nor a network such as 10.0.0.0/8`;
  }
  return undefined;
}

/** {@link proxiesProblem} in JSON Schema. */
export const proxiesRule = { items: { type: "string", pattern: "^[0-9A-Fa-f:.]+(?:/[0-9]{1,3})?$" } };

/** Why sidecars can't have these names together: a variable has room for one address only. */
export function sidecarNamesProblem(names: readonly string[]): string | undefined {
  const seen = new Map<string, string>();
  for (const name of names) {
    const variable = sidecarVariable(name);
    const before = seen.get(variable);
    if (before !== undefined)
      return `\`${before}\` and \`${name}\` are both ${variable} to the module; give one of them another name`;
    seen.set(variable, name);
  }
  return undefined;
}

/**
 * The reason why a list has an invalid outbound host, by the rules of `crates/transport/src/allow.rs`; a test compares
 * the two. Entries are counted and not repeated, because a mixed-up environment variable may contain a secret.
 */
export function outboundProblem(hosts: readonly string[]): string | undefined {
  for (const [index, host] of hosts.entries()) {
    const [, name, port] = /^(?:https?:\/\/)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/.exec(host) ?? [];
    const which = hosts.length === 1 ? "has an entry" : `has as entry ${index + 1} one`;
    if (name === undefined || !isHost(name))
      return `${which} that is not a host: write host, host:port, or either behind http:// or https://`;
    if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535))
      return `${which} whose port is none from 1 to 65535`;
  }
  return undefined;
}
