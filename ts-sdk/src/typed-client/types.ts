import type { App } from "../app/app.ts";
import type { Group } from "../app/definitions.ts";
import type { Headers } from "../http/headers.ts";
import type { ProblemDetails } from "../http/problem.ts";
import type { Route } from "../routing/operation.ts";
import type { Paths, Placeholders, StatusOf } from "../routing/types.ts";
import type { FormFile } from "../schema/file.ts";
import type { FormSchema } from "../schema/form.ts";
import type { Fields, OutputOf } from "../schema/object.ts";
import type { Infer, StandardSchema } from "../schema/standard.ts";

/** The calls of an app, by the names that its routes and groups have in `routes({ … })`. */
export type Client<A extends App> = A extends App<infer D> ? CallsOf<D> : never;

type CallsOf<D> = {
  readonly [K in keyof D]: D[K] extends Route<infer P, infer O, never>
    ? Call<P, O>
    : D[K] extends Group<infer G, never>
      ? CallsOf<G>
      : never;
};

/** Calls a route: without an argument when it takes nothing that must be given. */
export type Call<P extends Paths, O> =
  Record<never, never> extends Input<P, O>
    ? (input?: Input<P, O>) => Promise<Result<O>>
    : (input: Input<P, O>) => Promise<Result<O>>;

/** What a call takes: what the route declares, and headers. */
export type Input<P extends Paths, O> = PathInput<P, O> &
  QueryInput<O> &
  BodyInput<O> & { readonly headers?: HeadersInput };

/** Headers by name. */
export type HeadersInput = Readonly<Record<string, string>>;

type PathInput<P extends Paths, O> = O extends { readonly path: infer S }
  ? { readonly path: ValueOf<S> }
  : [Placeholders<P extends string ? P : P[number]>] extends [never]
    ? unknown
    : { readonly path: Readonly<Record<Placeholders<P extends string ? P : P[number]>, string | number | boolean>> };

/** Every key may be left out: which of them have a default, the type does not say. The server answers 400 to what it misses. */
type QueryInput<O> = O extends { readonly query: infer S } ? { readonly query?: Partial<ValueOf<S>> } : unknown;

type BodyInput<O> = O extends { readonly body: infer S }
  ? S extends FormSchema<infer Values>
    ? { readonly form: { readonly [K in keyof Values]: Sent<Values[K]> } }
    : undefined extends ValueOf<S>
      ? { readonly body?: ValueOf<S> }
      : { readonly body: ValueOf<S> }
  : unknown;

/** A file goes out as what the platform has for one. */
type Sent<T> = T extends FormFile ? Blob : T extends readonly FormFile[] ? readonly Blob[] : T;

type ValueOf<S> = S extends StandardSchema ? Infer<S> : S extends Fields ? OutputOf<S> : never;

/** What a call resolves to, whatever the server answers. */
export type Result<O> = Success<O> | Failed;

/** The success that the route declares. */
export interface Success<O> {
  readonly ok: true;
  readonly status: StatusOf<O>;
  /** The body as JSON: of the declared type where there is one. A text when the answer is no JSON; `undefined` without one. */
  readonly data: O extends { readonly response: infer S extends StandardSchema } ? Infer<S> : unknown;
  readonly headers: Headers;
}

/** An error answer. */
export interface Failed {
  readonly ok: false;
  readonly status: number;
  readonly problem: ProblemDetails;
  readonly headers: Headers;
}
