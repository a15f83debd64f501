import type { Request } from "../http/request.ts";
import type { ErrorResponse, Response } from "../http/response.ts";
import type { Schema } from "../schema/schema.ts";
import type { Infer, InferInput, StandardSchema } from "../schema/standard.ts";
import type { RouteOptions } from "./operation.ts";

/** A route's path, or several: `["/", ""]`. */
export type Paths = string | readonly [string, ...string[]];

/** What a handler is given: exactly the kinds of input that the route declares, parsed and validated. */
export type InputOf<O> = {
  [K in keyof O & ("path" | "query" | "body")]: O[K] extends StandardSchema ? Infer<O[K]> : never;
};

/** The success status that a route declares. */
export type StatusOf<O> = O extends { readonly status: infer Status extends number } ? Status : 200;

/** The success body that a route declares; anything when it declares none. */
export type BodyOf<O> = O extends { readonly response: infer S extends StandardSchema } ? Returned<Infer<S>> : unknown;

/** What may be returned for a type: lists may be readonly, what is optional may be null, as a database gives it. */
export type Returned<T> = T extends readonly (infer Item)[]
  ? readonly Returned<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: undefined extends T[K] ? Returned<T[K]> | null : Returned<T[K]> }
    : T;

/** Statuses of `respond` that are no success: any route may answer with them. */
export type OtherStatus =
  | (300 | 301 | 302 | 303 | 304 | 307 | 308)
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 417 | 418)
  | (421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451)
  | (500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 511);

/** What a handler may answer: the declared success, or no success at all. */
export type Answer<O> = Response<StatusOf<O>, BodyOf<O>> | Response<OtherStatus> | ErrorResponse;

/** A handler of a route with options. */
export type Handler<O> = (input: InputOf<O>, request: Request) => Answer<O> | Promise<Answer<O>>;

/** The names of the placeholders in a path. */
export type Placeholders<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Nothing when the `path` option has just the fields that every path has as placeholders, else what is wrong. */
export type PathRule<P extends Paths, O> = O extends { readonly path: infer S extends StandardSchema }
  ? Alternatives<P> extends infer One extends string
    ? One extends string
      ? SameNames<PathFieldsOf<S>, Placeholders<One>, One>
      : never
    : never
  : unknown;

type Alternatives<P extends Paths> = P extends string ? P : P[number];

type PathFieldsOf<S extends StandardSchema> = string & keyof (S extends Schema ? Infer<S> : InferInput<S>);

type SameNames<Fields extends string, Names extends string, P extends string> = string extends P
  ? unknown
  : [Exclude<Names, Fields>] extends [never]
    ? [Exclude<Fields, Names>] extends [never]
      ? unknown
      : { readonly path: `${P} has no {${Exclude<Fields, Names>}}` }
    : { readonly path: `the Path has no field for {${Exclude<Names, Fields>}} of ${P}` };

/** Nothing when every option is known, else a demand that can't be met. */
export type KnownOptions<O> = { readonly [K in Exclude<keyof O, keyof RouteOptions>]: never };
