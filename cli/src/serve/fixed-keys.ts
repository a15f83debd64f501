/** The keys of `[server]` that a running server cannot change. */
import { limits } from "../limits.ts";
import { camelCase } from "../project/config/key.ts";
import { sections } from "../project/config/keys.ts";
import type { Config } from "../project/config.ts";

/** Returns the keys of `[server]` that have changed but cannot be applied at run time. */
export function fixedKeys({ server: before }: Config, { server: after }: Config): string[] {
  const isOfModule = (key: string) =>
    key === "isolation" || (key in limits && limits[key as keyof typeof limits].ofModule);
  const keys = Object.keys(sections.server.keys).filter(
    (key) => !isOfModule(key) && key !== "refresh_ms" && key !== "verify_key",
  );
  const value = (server: Config["server"], key: string) =>
    JSON.stringify((server as Readonly<Record<string, unknown>>)[camelCase(key)]);
  return keys.filter((key) => value(before, key) !== value(after, key));
}
