import { resolve } from "node:path";
import { TenonError } from "../errors.ts";
import type { RuntimeOptions } from "../runtime.ts";
import type { Config } from "./config.ts";

/**
 * What `tenon.toml` says to the runtime: `[server]` without the address, `[sidecars]`, `[outbound]` and `[env]`.
 *
 * @param folder what paths in the file are relative to
 * @throws TenonError `CONFIG` when there is a certificate without its key, or the other way round
 */
export function servingOptions(config: Config, folder: string): Omit<RuntimeOptions, "modules"> {
  const { host: _host, port: _port, tlsCertificate, tlsKey, ...serving } = config.server;
  if ((tlsCertificate === undefined) !== (tlsKey === undefined)) {
    throw new TenonError("CONFIG", "server.tls_certificate and server.tls_key belong together: one of them is missing");
  }
  return {
    ...serving,
    sidecars: config.sidecars,
    outboundAllow: config.outbound.allow,
    env: config.env,
    ...(tlsCertificate === undefined || tlsKey === undefined
      ? {}
      : { tls: { certificate: resolve(folder, tlsCertificate), key: resolve(folder, tlsKey) } }),
  };
}
