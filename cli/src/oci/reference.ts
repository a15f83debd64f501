import { TenonError } from "../errors.ts";

/** The scheme of references in arguments and in `tenon.toml`. */
const scheme = "oci://";

/** An artifact in a registry, with a tag, a digest or both. */
export interface Reference {
  /** Host and port as written. */
  readonly registry: string;
  /** Path of the repository, such as `team/shop`. */
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:` and 64 hexadecimal digits. It takes precedence over the tag. */
  readonly digest?: string;
}

/** Pattern of accepted digests. */
export const digestPattern = /^sha256:[a-f0-9]{64}$/;

const MAX_LENGTH = 512;
const HOST = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]{0,252}[a-zA-Z0-9])?|\[[0-9a-fA-F:.]{2,45}\])(?::[0-9]{1,5})?$/;
const REPOSITORY = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** Returns whether a source is a reference instead of a path. */
export function isReference(source: string): boolean {
  return source.toLowerCase().startsWith(scheme);
}

/**
 * Parses `oci://registry/repository:tag` and `oci://registry/repository@sha256:…`; the scheme is optional. The grammar
 * is that of the OCI distribution specification.
 *
 * @throws TenonError `USAGE`
 */
export function parseReference(text: string): Reference {
  const rest = isReference(text) ? text.slice(scheme.length) : text;
  const [named = "", ...digests] = rest.split("@");
  const [digest] = digests;
  // Errors quote the text only if no part of it can be a password.
  if (digests.length > 1 || (digest !== undefined && !digestPattern.test(digest))) {
    throw wrong("the reference has an @ without a sha256 digest of 64 hexadecimal digits after it");
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
    throw wrong(`${shown} has no valid repository: use lower-case letters, digits, and . _ - / between them`);
  }
  if (tag !== undefined && !TAG.test(tag)) throw wrong(`${shown} has no valid tag`);
  if (tag === undefined && digest === undefined) throw wrong(`${shown} has neither a tag nor a digest`);
  return {
    registry,
    // Docker Hub's shorthand for official images.
    repository: isDockerHub(registry) && !repository.includes("/") ? `library/${repository}` : repository,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** Formats a reference as a user writes it. */
export function formatReference({ registry, repository, tag, digest }: Reference): string {
  const name = `${scheme}${registry}/${repository}`;
  return digest === undefined ? `${name}:${tag}` : `${name}@${digest}`;
}

/** Returns the host of a registry. Docker Hub's differs from its name. */
export function hostOf({ registry }: Reference): string {
  return isDockerHub(registry) ? "registry-1.docker.io" : registry;
}

/** Returns whether a registry or host is this machine. */
export function isLoopback(registry: string): boolean {
  const host = registry.replace(/:[0-9]+$/, "").toLowerCase();
  return (
    host === "localhost" || host.endsWith(".localhost") || /^127(?:\.[0-9]{1,3}){3}$/.test(host) || host === "[::1]"
  );
}

/** Returns whether a registry is Docker Hub, under any of its names. */
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

/** Returns the module's name: the last part of the repository. */
export function nameOf({ repository }: Reference): string {
  return repository.slice(repository.lastIndexOf("/") + 1);
}
