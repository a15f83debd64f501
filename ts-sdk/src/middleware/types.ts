import type { Response } from "../http/response.ts";
import type { DeclareRoute } from "../routing/method.ts";
import type { Around } from "../routing/step.ts";
import type { MiddlewareOpenApi, SecurityScheme } from "./security.ts";

/** Code around a route, a group or an app: it may answer in the handler's place, and change answers of the inside. */
export interface Middleware<out Adds = Empty, in Needs = Empty> extends Around {
  /** The credentials that a client has to present, for the OpenAPI document; set by authenticating middleware. */
  readonly security?: SecurityScheme;
  /** Additions to the OpenAPI document. */
  readonly openapi?: MiddlewareOpenApi;
  /** Never set: it carries the types. */
  readonly "~types"?: { readonly adds: Adds; readonly needs: (context: Needs) => void };
}

/** A middleware that may need any context. */
export type AnyMiddleware = Middleware<unknown, never>;

/** An answer of the code inside a middleware, after `Adds` was handed on. */
export type Passed<Adds> = Response & { readonly "~adds"?: Adds };

/** Calls the code inside a middleware, and hands a context on to it. It resolves to the answer, errors included. */
export interface Next {
  (): Promise<Passed<Empty>>;
  <Adds extends object>(context: Adds): Promise<Passed<Adds>>;
}

/** The empty context. */
export type Empty = Record<never, never>;

/** The context that a list of middleware adds; a later one replaces an earlier one's members. */
export type AddsOf<M extends readonly unknown[], Given = Empty> = M extends readonly [infer First, ...infer Rest]
  ? AddsOf<Rest, Merged<Given, First extends Middleware<infer Adds, never> ? Adds : Empty>>
  : Given;

/** Two contexts merged, as a type without a name, so that an editor shows the members. */
export type Merged<Given, Adds> = keyof Adds extends never
  ? Given
  : keyof Given extends never
    ? Adds
    : Flat<Omit<Given, keyof Adds> & Adds>;

type Flat<T> = T extends infer O ? { [K in keyof O]: O[K] } : never;

/** `unknown` when each middleware gets its context from those before it, else a type that names the error. */
export type Chain<M extends readonly unknown[], Given> = M extends readonly [infer First, ...infer Rest]
  ? First extends Middleware<infer Adds, infer Needs>
    ? [Given] extends [Needs]
      ? readonly [unknown, ...Chain<Rest, Merged<Given, Adds>>]
      : readonly [Lacks<Needs, Given>, ...unknown[]]
    : readonly unknown[]
  : readonly unknown[];

/** The error of a middleware or a route: the names of the context that no middleware adds, or adds with another type. */
export type Lacks<Needs, Given> = {
  readonly [K in Exclude<keyof Needs, keyof Given> & string as [Needs[K]] extends [never]
    ? `its middleware adds "${K}" with another type`
    : `no middleware before it adds "${K}"`]: never;
} & (Exclude<keyof Needs, keyof Given> extends never
  ? { readonly "middleware adds another type than is needed": never }
  : unknown);

/** Route functions whose handlers receive a context, from `use`. */
export interface Kit<Context> {
  /** Declares a GET route. It answers HEAD as well. */
  readonly get: DeclareRoute<Context>;
  /** Declares a POST route. */
  readonly post: DeclareRoute<Context>;
  /** Declares a PUT route. */
  readonly put: DeclareRoute<Context>;
  /** Declares a PATCH route. */
  readonly patch: DeclareRoute<Context>;
  /** Declares a DELETE route. */
  readonly del: DeclareRoute<Context>;
  /** A kit with further middleware inside this one's. */
  use<const M extends readonly AnyMiddleware[]>(...middleware: M & Chain<M, Context>): Kit<AddsOf<M, Context>>;
}
