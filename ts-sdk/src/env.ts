import { findVariable, isReserved, requireRequest } from "./platform.ts";

/**
 * A variable of the environment that the host injects: `[env]` of `tenon.toml`, and `SIDECAR_<NAME>_URL` for each
 * sidecar. The host's own environment is never part of it. `undefined` when it is not set.
 *
 * Read it in a handler: while the component is built there is no environment yet, and the build fails.
 *
 * @example
 * get("/", () => ok({ mode: env("MODE") ?? "production" }))
 */
export function env(name: string): string | undefined {
  requireRequest("env");
  return isReserved(name) ? undefined : findVariable(name);
}
