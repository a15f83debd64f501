import { isReference, parseReference } from "../../oci/reference.ts";

/** Returns the reason why a text is not a module's source; undefined for a valid one. */
export function sourceProblem(source: string): string | undefined {
  if (source === "") return "must not be empty";
  if (!isReference(source)) return undefined;
  try {
    parseReference(source);
    return undefined;
  } catch (error) {
    return `is not a reference: ${(error as Error).message}`;
  }
}

/** Paths that the server answers itself. */
const own = ["run", "health", "ready", "metrics"];

/**
 * Returns the reason why a path is not a mount, by the rules of `crates/runtime/src/module/mounts.rs`; undefined for a valid
 * one.
 */
export function mountProblem(mount: string): string | undefined {
  if (mount === "/") return undefined;
  if (!/^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/.test(mount))
    return "must be / or a path such as /shop: letters, digits, -, ., _ and ~ between slashes, and no slash at its end";
  const first = mount.split("/")[1] as string;
  return own.includes(first) ? `is not free: /${first} is the server's own` : undefined;
}

/** {@link mountProblem} in JSON Schema. */
export const mountRule = {
  pattern: `^(?:/|(?!/(?:${own.join("|")})(?:/|$))(?:/(?!\\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)+)$`,
};

const host = /^(?:(?!\.|.*\.\.)[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])$/;

/** Returns the reason why a text is not a module's host; undefined for a valid one. */
export function hostProblem(text: string): string | undefined {
  return host.test(text) ? undefined : "must be a host name such as shop.example, without scheme and port";
}

/** {@link hostProblem} in JSON Schema. */
export const hostRule = { pattern: host.source };
