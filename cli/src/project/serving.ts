import { resolve } from "node:path";
import { TenonError } from "../errors.ts";
import type { RuntimeOptions } from "../runtime.ts";
import type { Config } from "./config.ts";
import { type Environment, resolveSecrets } from "./secrets.ts";
import { resolveSidecars } from "./sidecars.ts";

/**
 * What `tenon.toml` says to the runtime: `[server]` without the address, `[sidecars]`, `[outbound]`, `[secrets]` and `[env]`.
 *
 * @param folder what paths in the file are relative to
 * @param environment where the variables of `[secrets]` and of sidecars in this process are looked up
 * @throws TenonError `CONFIG` when a secret or the URL of a sidecar is not to be had, or when there is a certificate without its key, or the other way round
 */
export function servingOptions(
  config: Config,
  folder: string,
  environment: Environment = process.env,
): Omit<RuntimeOptions, "modules"> {
  const { host: _host, port: _port, tlsCertificate, tlsKey, ...others } = config.server;
  // The command's own.
  const { metricsAddress: _metrics, refreshMs: _refresh, admin: _admin, ...serving } = others;
  if ((tlsCertificate === undefined) !== (tlsKey === undefined)) {
    throw new TenonError("CONFIG", "server.tls_certificate and server.tls_key belong together: one of them is missing");
  }
  return {
    ...serving,
    sidecars: resolveSidecars(config.sidecars, folder, environment),
    outboundAllow: config.outbound.allow,
    trustedProxies: config.server.trustedProxies,
    env: config.env,
    secrets: resolveSecrets(config.secrets, folder, environment),
    ...(tlsCertificate === undefined || tlsKey === undefined
      ? {}
      : { tls: { certificate: resolve(folder, tlsCertificate), key: resolve(folder, tlsKey) } }),
  };
}
