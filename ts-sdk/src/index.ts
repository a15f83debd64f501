/**
 * `@tenon/sdk`: HTTP handlers in TypeScript. It contains routes, typed inputs, validation, responses and errors; the
 * command `tenon` builds, composes and serves. This code runs inside the component: it imports nothing, and uses only
 * the parts of the engine in `platform.ts`.
 */
export type { App, HandleOptions } from "./app/app.ts";
export { checkResponse } from "./app/check.ts";
export type { Definitions, Group } from "./app/definitions.ts";
export { group } from "./app/group.ts";
export type { OnError } from "./app/on-error.ts";
export type { OnInvalid } from "./app/on-invalid.ts";
export { type RoutesOptions, routes } from "./app/routes.ts";
export { warmUp } from "./app/warm-up.ts";
export { env } from "./env.ts";
export type { CookieOptions, Cookies } from "./http/cookies.ts";
export type { ServerSentEvent } from "./http/events.ts";
export { Headers } from "./http/headers.ts";
export { ensure, guard, HttpError } from "./http/interrupt.ts";
export { type OctetInput, type OctetStreamOptions, type OctetStreamSchema, octetStream } from "./http/octet-stream.ts";
export type { InputError, InputKind, ProblemDetails } from "./http/problem.ts";
export type { Request } from "./http/request.ts";
export {
  accepted,
  created,
  type ErrorExtra,
  type ErrorResponse,
  error,
  type HeadersInit,
  noContent,
  ok,
  type Response,
  type ResponseInit,
  redirect,
  respond,
} from "./http/response.ts";
export type { Piece, ReadableBody, StreamSource } from "./http/stream.ts";
export { type SseInit, type StreamInit, sse, stream } from "./http/stream-response.ts";
export type { McpOptions, ToolRoute } from "./mcp/types.ts";
export { apiKey } from "./middleware/api-key.ts";
export type { Identified, WithUser } from "./middleware/authenticate.ts";
export { basicAuth } from "./middleware/basic-auth.ts";
export { bearer } from "./middleware/bearer.ts";
export { type CorsOptions, cors } from "./middleware/cors.ts";
export { etag } from "./middleware/etag.ts";
export {
  type JsonWebKey,
  type JsonWebKeySet,
  type JwtAlgorithm,
  type JwtClaims,
  type JwtKey,
  type JwtOptions,
  jwt,
  type SubtleKey,
  type WithClaims,
  type WithOptionalClaims,
} from "./middleware/jwt.ts";
export { type MiddlewareOptions, middleware } from "./middleware/middleware.ts";
export { type RateLimitOptions, rateLimit } from "./middleware/rate-limit.ts";
export { safeEqual } from "./middleware/safe-equal.ts";
export { type SecureHeader, type SecureHeadersOptions, secureHeaders } from "./middleware/secure-headers.ts";
export type { MiddlewareOpenApi, SecuritySchemeObject } from "./middleware/security.ts";
export { type Duration, type JwtPrivateKey, type SignJwtOptions, signJwt } from "./middleware/sign-jwt.ts";
export { type SignatureOptions, type SignatureScheme, signature } from "./middleware/signature.ts";
export type { Kit, Middleware, Next, Passed } from "./middleware/types.ts";
export { use } from "./middleware/use.ts";
export { type SidecarClient, sidecar } from "./outbound/bound.ts";
export {
  type CacheEntry,
  type CacheIncrOptions,
  type CacheList,
  type CacheSetOptions,
  cache,
} from "./outbound/cache.ts";
export {
  type BatchOptions,
  type BatchResult,
  type BatchStatement,
  type Column,
  type DbStatement,
  db,
  type ExecuteOptions,
  type Isolation,
  type Parameter,
  type Row,
} from "./outbound/db.ts";
export { HttpClientError, type HttpClientErrorCode } from "./outbound/errors.ts";
export { type HttpRequest, httpClient } from "./outbound/http-client.ts";
export type { DbPageOptions, ReadPage } from "./outbound/page.ts";
export { type QueueClient, type QueueMessage, type QueueSendOptions, queue } from "./outbound/queue.ts";
export type { HttpResponse } from "./outbound/response.ts";
export { type ListOptions, SidecarError, type SidecarErrorCode, type SidecarName } from "./outbound/sidecar.ts";
export {
  type StorageConditions,
  type StorageKeptOptions,
  type StorageList,
  type StorageListOptions,
  type StorageObject,
  type StoragePart,
  type StoragePutOptions,
  type StorageUpload,
  type StorageUrlOptions,
  type StorageWritten,
  storage,
} from "./outbound/storage.ts";
export type { Storable, Stored } from "./outbound/stored.ts";
export type { Transaction, TransactionOptions } from "./outbound/transaction.ts";
export { random } from "./random.ts";
export type { RawHeader, RawRequest, RawResponse } from "./raw.ts";
export { rehearse } from "./rehearse.ts";
export { type DeclareRoute, del, get, patch, post, put } from "./routing/method.ts";
export type { CheckResponse, GivenOptions, Method, Operation, Route, RouteOptions } from "./routing/operation.ts";
export type {
  BoolAttributes,
  CheckAttribute,
  EnumAttributes,
  FieldAttributes,
  JsonAttributes,
  ListAttributes,
  NumberAttributes,
  RecordAttributes,
  StringAttributes,
} from "./schema/attributes.ts";
export type { EnumSchema } from "./schema/enum.ts";
export { type Extended, extend } from "./schema/extend.ts";
export type { FailureCode } from "./schema/failures.ts";
export { type FieldKinds, field } from "./schema/field.ts";
export type { FileAttributes, FileSchema, FormFile } from "./schema/file.ts";
export { Form, type FormFields, type FormSchema } from "./schema/form.ts";
export type { Format } from "./schema/formats.ts";
export type { Json } from "./schema/json.ts";
export { type ListSchema, list } from "./schema/list.ts";
export type { ObjectSchema, PathSchema, QuerySchema, TypeSchema } from "./schema/object.ts";
export { omit } from "./schema/omit.ts";
export { type OneOf, oneOf, type UnionSchema, type Variants } from "./schema/one-of.ts";
export { type PartialOf, partial } from "./schema/partial.ts";
export { Id, Path } from "./schema/path.ts";
export { pick } from "./schema/pick.ts";
export { Problem } from "./schema/problem.ts";
export { Query } from "./schema/query.ts";
export { type RecordSchema, record } from "./schema/record.ts";
export type { Kind, Presence, Schema } from "./schema/schema.ts";
export type { Infer, InferInput, StandardSchema } from "./schema/standard.ts";
export { Type } from "./schema/type.ts";
export { secret } from "./secret.ts";
export * from "./sql/index.ts";
export { time } from "./time.ts";
