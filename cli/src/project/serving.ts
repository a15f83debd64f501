/** The options of a runtime from a project's configuration. */
import { resolve } from "node:path";
import type { RuntimeOptions } from "../embed/runtime-options.ts";
import { TenonError } from "../errors.ts";
import type { Environment } from "./config/parse.ts";
import type { Config } from "./config.ts";
import { resolveSecrets } from "./secrets.ts";
import { resolveSidecars } from "./sidecars.ts";

/**
 * The runtime's options from `tenon.toml`: `[server]` without the address, `[sidecars]`, `[outbound]`, `[record]`,
 * `[secrets]` and `[env]`.
 *
 * @param folder the base of relative paths in the file
 * @param environment the variables for `[secrets]` and for sidecars in this process
 * @throws TenonError `CONFIG` for an unavailable secret or sidecar URL, and for a certificate without its key, or the
 *   other way round
 */
export function servingOptions(
  config: Config,
  folder: string,
  environment: Environment = process.env,
): Omit<RuntimeOptions, "modules"> {
  const { host: _host, port: _port, tlsCertificate, tlsKey, ...others } = config.server;
  // The command's own.
  const { metricsAddress: _metrics, refreshMs: _refresh, verifyKey: _verifyKey, admin: _admin, ...serving } = others;
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
    ...recordOf(config, folder),
    ...(tlsCertificate === undefined || tlsKey === undefined
      ? {}
      : { tls: { certificate: resolve(folder, tlsCertificate), key: resolve(folder, tlsKey) } }),
  };
}

/** The recording of requests; nothing without a folder. */
function recordOf({ record }: Config, folder: string): Pick<RuntimeOptions, "record"> {
  const { folder: own, ...rest } = record;
  return own === undefined ? {} : { record: { ...rest, folder: resolve(folder, own) } };
}

/** Reports whether requests should be recorded, and there is no folder for them. */
export function lacksRecordFolder({ record }: Config): boolean {
  const { folder, share, slowMs, header, mask } = record;
  return folder === undefined && (share > 0 || slowMs !== undefined || header !== undefined || mask.length > 0);
}
