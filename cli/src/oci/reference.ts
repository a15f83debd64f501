import { TenonError } from "../errors.ts";

/** The scheme of references in arguments and in `tenon.toml`. */
export const scheme = "oci://";

/** An artifact in a registry. At least one of tag and digest is there. */
export interface Reference {
  /** Host and port, as they were written. */
  readonly registry: string;
  /** Path of the repository, such as `team/shop`. */
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:` and 64 hexadecimal digits. It counts when a tag is given as well. */
  readonly digest?: string;
}

/** A digest as Tenon accepts it. */
export const digestPattern = /^sha256:[a-f0-9]{64}$/;

const MAX_LENGTH = 512;
const HOST = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]{0,252}[a-zA-Z0-9])?|\[[0-9a-fA-F:.]{2,45}\])(?::[0-9]{1,5})?$/;
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** Whether a source is a reference and not a path. */
export function isReference(source: string): boolean {
  return source.toLowerCase().startsWith(scheme);
}

/**
 * Reads `oci://registry/repository:tag` and `oci://registry/repository@sha256:…`; the scheme may be left out. The grammar is
 * that of the OCI distribution specification.
 *
 * @throws TenonError `USAGE`
 */
export function parseReference(text: string): Reference {
  const rest = isReference(text) ? text.slice(scheme.length) : text;
  const [named = "", ...digests] = rest.split("@");
  const [digest] = digests;
  // The text is repeated only when nothing in it can be a password.
  if (digests.length > 1 || (digest !== undefined && !digestPattern.test(digest))) {
    throw wrong("the reference has an @ that no sha256 digest of 64 hexadecimal digits follows");
  }
  const shown = text.length > MAX_LENGTH ? "the reference" : JSON.stringify(text);
  if (text.length > MAX_LENGTH) throw wrong(`the reference is longer than ${MAX_LENGTH} characters`);
  const slash = named.indexOf("/");
  const registry = slash < 0 ? "" : named.slice(0, slash);
  if (!HOST.test(registry) || !(/[.:]/.test(registry) || registry === "localhost")) {
    throw wrong(`${shown} names no registry`);
  }
  if (Number(/(?<=:)[0-9]+$/.exec(registry)?.[0] ?? 1) > 65_535) throw wrong(`${shown} has no valid port`);
  const path = named.slice(slash + 1);
  const colon = path.lastIndexOf(":");
  const tag = colon < 0 ? undefined : path.slice(colon + 1);
  const repository = colon < 0 ? path : path.slice(0, colon);
  if (repository.length > 255 || !REPOSITORY.test(repository)) {
    throw wrong(`${shown} names no repository: it has lower-case letters, digits, and . _ - / between them`);
  }
  if (tag !== undefined && !TAG.test(tag)) throw wrong(`${shown} has no valid tag`);
  if (tag === undefined && digest === undefined) throw wrong(`${shown} has neither a tag nor a digest`);
  return {
    registry,
    // The shorthand of Docker Hub for its official images.
    repository: isDockerHub(registry) && !repository.includes("/") ? `library/${repository}` : repository,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** The reference as a user writes it. */
export function formatReference({ registry, repository, tag, digest }: Reference): string {
  const name = `${scheme}${registry}/${repository}`;
  return digest === undefined ? `${name}:${tag}` : `${name}@${digest}`;
}

/** The host that answers for a registry. Docker Hub's differs from its name. */
export function hostOf({ registry }: Reference): string {
  return isDockerHub(registry) ? "registry-1.docker.io" : registry;
}

/** Whether a registry or host is this machine. */
export function isLoopback(registry: string): boolean {
  const host = registry.replace(/:[0-9]+$/, "").toLowerCase();
  return (
    host === "localhost" || host.endsWith(".localhost") || /^127(?:\.[0-9]{1,3}){3}$/.test(host) || host === "[::1]"
  );
}

/** Whether a registry is Docker Hub, by one of its names. */
export function isDockerHub(registry: string): boolean {
  return ["docker.io", "index.docker.io", "registry-1.docker.io"].includes(registry.toLowerCase());
}

function wrong(message: string): TenonError {
  return new TenonError(
    "USAGE",
    message,
    "write oci://registry.example/team/shop:1.0, or oci://registry.example/team/shop@sha256:…",
  );
}
