/** OAuth 2.0 Protected Resource Metadata (RFC 9728), from `jwt` with an `issuer`. */
import { originOf, type Request, rawOf } from "../http/request.ts";
import { type Response, verbatimResponse, withHeaders } from "../http/response.ts";
import { middleware } from "../middleware/middleware.ts";
import type { SecurityScheme } from "../middleware/security.ts";
import type { Middleware } from "../middleware/types.ts";
import { platform } from "../platform.ts";
import type { Operation } from "../routing/operation.ts";
import type { Around } from "../routing/step.ts";

export const MCP_PATH = "/mcp";
const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The issuers of the tokens that an app accepts, each once. */
export function issuersOf(use: readonly Around[], operations: readonly Operation[]): string[] {
  const issuers = securityOf(use, operations).flatMap(({ kind, issuer }) => (kind === "jwt" ? (issuer ?? []) : []));
  return [...new Set(issuers)].filter(isUrl);
}

/** The headers in which an app reads API keys, in lower case. */
export function keyHeadersOf(use: readonly Around[], operations: readonly Operation[]): string[] {
  return securityOf(use, operations).flatMap(({ header }) => header?.toLowerCase() ?? []);
}

function securityOf(use: readonly Around[], operations: readonly Operation[]): SecurityScheme[] {
  const all = [use, ...operations.map((each) => each.use)].flat() as readonly Middleware[];
  return all.flatMap(({ security }) => security ?? []);
}

/** An issuer of OAuth is a URL (RFC 8414, section 2); JSON Web Tokens allow other texts. */
function isUrl(issuer: string): boolean {
  try {
    return /^https?:$/.test(new platform.URL(issuer).protocol);
  } catch {
    return false;
  }
}

/** The absolute URL of a path of this module, as the client sees it. */
function urlAt(request: Request, path: string): string {
  const { scheme, host = "localhost" } = originOf(rawOf(request));
  return `${scheme}://${host}${request.base}${path}`;
}

/** Adds the place of the metadata to a challenge of `Bearer` (RFC 9728, section 5.1). */
function withMetadata(response: Response, request: Request): Response {
  const added = `resource_metadata="${urlAt(request, WELL_KNOWN)}"`;
  const challenges = response.headers.flatMap(([name, value]) =>
    name === "www-authenticate" ? [challengeWith(value, added)] : [],
  );
  return challenges.length === 0
    ? response
    : withHeaders(
        response,
        challenges.map((each) => ["www-authenticate", each] as const),
      );
}

/** A challenge with one more parameter, if it is of `Bearer` and names no metadata. */
function challengeWith(challenge: string, parameter: string): string {
  if (!/^bearer\b/i.test(challenge) || challenge.includes("resource_metadata=")) return challenge;
  return /^bearer$/i.test(challenge) ? `${challenge} ${parameter}` : `${challenge}, ${parameter}`;
}

/**
 * Answers the requests for the metadata, before any middleware that asks for credentials, and adds its place to the 401
 * of `/mcp`. It is the outermost middleware.
 */
export function metadataMiddleware(issuers: readonly string[]): Middleware {
  return middleware(async (request, next) => {
    const { method, path } = request;
    if (path === WELL_KNOWN || path === WELL_KNOWN + MCP_PATH) {
      if (method === "OPTIONS") return open(204, undefined);
      if (method !== "GET" && method !== "HEAD") return next();
      const metadata = {
        resource: urlAt(request, MCP_PATH),
        authorization_servers: issuers,
        bearer_methods_supported: ["header"],
      };
      return open(200, JSON.stringify(metadata));
    }
    const answer = await next();
    return path === MCP_PATH && answer.status === 401 ? withMetadata(answer, request) : answer;
  });
}

/** Pages of every origin may read the metadata, because it is public. */
function open(status: number, body: string | undefined): Response {
  const headers = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "*",
  };
  return verbatimResponse("mcp", status, headers, body && "application/json", body);
}
