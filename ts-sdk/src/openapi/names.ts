import { splitPath } from "../routing/pattern.ts";

/** A package's name as the prefix of operation ids: `@acme/my-shop` is `acme_my_shop`. */
export function identifierOf(packageName: string): string {
  return packageName.replace(/^@/, "").replace(/[^A-Za-z0-9_]/g, "_");
}

/**
 * The tag of a path: its first literal segment that is neither `api` nor a version, as words. `/users/{id}` and
 * `/api/v1/users` are `Users`, `/order-items` is `Order Items`. Without one, as in `/` and `/{id}`, it is the package's
 * name without its scope, in the same style.
 */
export function tagOf(path: string, packageName: string): string {
  const prefix = splitPath(path).find((segment) => segment !== "" && !segment.startsWith("{") && !isTechnical(segment));
  return words(prefix === undefined ? packageName.replace(/^.*\//, "") : decodeURIComponent(prefix));
}

function isTechnical(segment: string): boolean {
  return /^(?:api|v\d+(?:\.\d+)*)$/i.test(segment);
}

function words(text: string): string {
  const parts = text.split(/[^\p{L}\p{N}]+/u).filter((part) => part !== "");
  return parts.map((part) => part.replace(/^./u, (first) => first.toUpperCase())).join(" ") || text;
}
