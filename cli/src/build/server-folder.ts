/** The folder that `tenon-server` serves without Node: the components, and the configuration as JSON. */
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { systemReason, TenonError } from "../errors.ts";
import { limits } from "../limits.ts";
import { nativeBudget } from "../project/config/budgets.ts";
import { camelCase } from "../project/config/key.ts";
import type { Config } from "../project/config.ts";
import { moduleFiles, pulledFile } from "../project/modules.ts";
import type { Project } from "../project/project.ts";
import { tasksOf } from "../project/tasks.ts";
import { filesToServe } from "../serve/configuration.ts";

/** The version of the format, which `crates/server/src/configuration.rs` reads. */
const VERSION = 1;

/** The names of the modules, and the parts of `tenon.toml` that need `tenon run`. */
export interface ServerFolder {
  readonly modules: readonly string[];
  readonly leftOut: readonly string[];
}

/**
 * Replaces `folder`: `server.json`, `<module>.wasm` (or `.cwasm`) for each module, and the project's `migrations/`. Secrets and the
 * URLs of stores stay references.
 *
 * @throws TenonError `CONFIG` for modules that cannot be served, `NOT_BUILT`, `WRITE`, and the errors of pulling from a
 *   registry
 */
export async function writeServerFolder(project: Project, folder: string): Promise<ServerFolder> {
  const { files, named } = await filesToServe([], project);
  const modules = await moduleFiles(files, named, project, pulledFile);
  const partial = join(dirname(folder), `.${basename(folder)}.${process.pid}.part`);
  try {
    await mkdir(partial, { recursive: true });
    for (const [name, file] of modules) await copyFile(file, join(partial, name + extname(file)));
    const text = `${JSON.stringify(serverConfiguration(project.config, modules), null, 2)}\n`;
    await writeFile(join(partial, "server.json"), text);
    const migrations = join(project.folder, "migrations");
    if (existsSync(migrations)) await cp(migrations, join(partial, "migrations"), { recursive: true });
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    throw new TenonError("WRITE", `cannot write ${folder}: ${systemReason(error)}`);
  }
  return { modules: [...modules.keys()], leftOut: leftOut(project.config) };
}

/** The configuration of `tenon-server`. */
export function serverConfiguration(config: Config, modules: ReadonlyMap<string, string>): object {
  const { server } = config;
  if ((server.tlsCertificate === undefined) !== (server.tlsKey === undefined)) {
    throw new TenonError("CONFIG", "server.tls_certificate and server.tls_key belong together: one of them is missing");
  }
  return {
    version: VERSION,
    host: server.host,
    port: server.port,
    metricsAddress: server.metricsAddress,
    logFormat: server.logFormat,
    accessLog: server.accessLog,
    trustCompiled: server.trustCompiled,
    otlpEndpoint: server.otlpEndpoint,
    trustedProxies: server.trustedProxies,
    ...(config.record.folder === undefined ? {} : { record: config.record }),
    ...(server.tlsCertificate === undefined ? {} : { tls: { certificate: server.tlsCertificate, key: server.tlsKey } }),
    isolation: server.isolation,
    limits: limitsOf(server),
    sidecars: config.sidecars,
    outboundAllow: config.outbound.allow,
    env: config.env,
    secrets: config.secrets,
    modules: Object.fromEntries(
      [...modules].map(([name, file]) => [name, moduleOf(name + extname(file), config.modules[name])]),
    ),
    ...tasksOf(config),
  };
}

function moduleOf(source: string, policy: Config["modules"][string] | undefined): object {
  if (policy === undefined) return { source };
  const { mount, host, isolation, env, secrets, sidecars, outbound } = policy;
  const budget = policy.budget && nativeBudget(policy.budget);
  return { source, mount, host, isolation, env, secrets, sidecars, outbound, budget, limits: limitsOf(policy) };
}

/** Limits by their keys in `tenon.toml`. Those that are left out have the runtime's defaults. */
function limitsOf(options: object): Record<string, number> {
  const values = options as Readonly<Record<string, unknown>>;
  const given = Object.keys(limits).map((name) => [name, values[camelCase(name)]] as const);
  return Object.fromEntries(given.filter((each): each is [string, number] => typeof each[1] === "number"));
}

function leftOut({ server }: Config): string[] {
  const admin = server.admin === undefined ? [] : ["server.admin"];
  return [...admin, ...(server.refreshMs > 0 ? ["server.refresh_ms"] : [])];
}
