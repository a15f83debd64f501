import type { App } from "../app/app.ts";
import type { Group } from "../app/definitions.ts";
import type { Headers } from "../http/headers.ts";
import type { ProblemDetails } from "../http/problem.ts";
import type { ErrorStatus, RedirectStatus } from "../http/status.ts";
import type { Paths, Route } from "../routing/operation.ts";
import type { PlaceholderNames, StatusOf } from "../routing/types.ts";
import type { FormFile } from "../schema/file.ts";
import type { FormSchema } from "../schema/form.ts";
import type { DefaultKey, Fields, OutputOf, PathSchema, QuerySchema, TypeSchema } from "../schema/object.ts";
import type { Infer, InferInput, StandardSchema } from "../schema/standard.ts";

/**
 * The calls of an app, by the names of its routes and groups in `routes({ … })`. A route or a group called `then` can't
 * be called, because a client with that member would be a promise.
 */
export type Client<A extends App> = A extends App<infer D> ? CallsOf<D> : never;

/** @typeParam Around the values of the placeholders in the prefixes of the groups around these routes */
type CallsOf<D, Around = unknown> = {
  readonly [K in keyof D]: K extends "then"
    ? never
    : D[K] extends Route<infer P, infer O, never>
      ? Call<P, O, Around>
      : D[K] extends Group<infer G, never, infer Path>
        ? CallsOf<G, Around & Path>
        : never;
};

/** Calls a route; the argument is optional when nothing is required. */
export type Call<P extends Paths, O, Around = unknown> =
  Record<never, never> extends Input<P, O, Around>
    ? (input?: Input<P, O, Around>) => Promise<Outcome<O>>
    : (input: Input<P, O, Around>) => Promise<Outcome<O>>;

/** The input of a call: the route's declared inputs, and headers. */
export type Input<P extends Paths, O, Around = unknown> = PathInput<P, O> &
  PathAround<Around> &
  QueryInput<O> &
  BodyInput<O> &
  HeadersOf<O>;

type PathAround<Around> = unknown extends Around ? unknown : { readonly path: Around };

/** The declared headers, and others of the caller's own. */
type HeadersOf<O> = "headers" extends keyof O
  ? DeclaredHeaders<QueryOf<O["headers"]>>
  : { readonly headers?: HeadersInput };
type DeclaredHeaders<Values> =
  Record<never, never> extends Values
    ? { readonly headers?: Values & AnyHeaders }
    : { readonly headers: Values & AnyHeaders };
type AnyHeaders = Readonly<Record<string, HeaderValue>>;

/** The value of a header in a call: a list is joined by commas, and `undefined` is not sent. */
export type HeaderValue = string | number | boolean | readonly (string | number | boolean)[] | undefined;

/** Headers by name. */
export type HeadersInput = Readonly<Record<string, string>>;

type PathInput<P extends Paths, O> = O extends { readonly path: PathSchema<infer Values> }
  ? { readonly path: Values }
  : OtherPathInput<P, O>;

/** The same for another library's schema, for inline fields, and for a path without any. */
type OtherPathInput<P extends Paths, O> = O extends { readonly path: infer S }
  ? { readonly path: ValueOf<S> }
  : [PlaceholderNames<P extends string ? P : P[number]>] extends [never]
    ? unknown
    : {
        readonly path: Readonly<Record<PlaceholderNames<P extends string ? P : P[number]>, string | number | boolean>>;
      };

type QueryInput<O> = O extends { readonly query: QuerySchema<infer Values, infer Defaults> }
  ? Given<WithoutDefaults<Values, Defaults>>
  : O extends { readonly query: infer S }
    ? Given<QueryOf<S>>
    : unknown;

/** The query, optional when every key may be left out. */
type Given<Query> = Record<never, never> extends Query ? { readonly query?: Query } : { readonly query: Query };

type QueryOf<S> = S extends StandardSchema
  ? TakenBy<S>
  : S extends Fields
    ? WithoutDefaults<OutputOf<S>, DefaultKey<S>>
    : never;

/** The same object, in which the keys with a default may be absent. */
type WithoutDefaults<Values, Defaults> = [Defaults] extends [never]
  ? Values
  : { readonly [K in keyof Values as K extends Defaults ? never : K]: Values[K] } & {
      readonly [K in keyof Values as K extends Defaults ? K : never]?: Values[K] | undefined;
    };

// Each kind of body by itself, the usual one first, so that the type checker does less work for most routes.
type BodyInput<O> = O extends { readonly body: TypeSchema<infer Values, infer P, infer Defaults> }
  ? GivenAs<"body", WithoutDefaults<Values, Defaults>, P>
  : O extends { readonly body: infer S }
    ? OtherBodyInput<S>
    : unknown;

type OtherBodyInput<S> =
  S extends FormSchema<infer Values, infer P, infer Defaults>
    ? GivenAs<"form", FormOf<WithoutDefaults<Values, Defaults>>, P>
    : S extends Fields
      ? { readonly body: QueryOf<S> }
      : undefined extends TakenBy<S>
        ? { readonly body?: TakenBy<S> }
        : { readonly body: TakenBy<S> };

type GivenAs<Key extends string, Values, P> = P extends "optional"
  ? { readonly [K in Key]?: Values | undefined }
  : { readonly [K in Key]: Values };

type FormOf<Values> = { readonly [K in keyof Values]: Sent<Values[K]> };

/** The input values of a schema; its outputs if it declares no input. */
type TakenBy<S> = S extends StandardSchema ? (unknown extends InferInput<S> ? Infer<S> : InferInput<S>) : never;

/** A file is sent as the platform's own type. */
type Sent<T> = T extends FormFile ? Blob : T extends readonly FormFile[] ? readonly Blob[] : T;

type ValueOf<S> = S extends StandardSchema ? Infer<S> : S extends Fields ? OutputOf<S> : never;

/** The result of a call, for any answer. */
export type Result<O> = Success<O> | Failed;

/** The result of a call by what its route declares. */
type Outcome<O> = "responses" extends keyof O ? DeclaredResult<O["responses"]> : Result<O>;

/** The results of a route with `responses`: one for each declared status, and all other errors. */
export type DeclaredResult<R> =
  | {
      [S in keyof R & number]: S extends ErrorStatus
        ? DeclaredError<S, DataIn<R[S]>>
        : DeclaredSuccess<S, DataIn<R[S]>>;
    }[keyof R & number]
  | OtherError<Exclude<ErrorStatus | RedirectStatus, keyof R>>;

interface DeclaredSuccess<Status, Data> {
  readonly ok: Status extends RedirectStatus ? false : true;
  readonly status: Status;
  readonly data: Data;
  readonly headers: Headers;
}

interface DeclaredError<Status, Data> {
  readonly ok: false;
  readonly status: Status;
  readonly problem: Data;
  readonly headers: Headers;
}

interface OtherError<Status> extends DeclaredError<Status, ProblemDetails> {}

/** The data of a declared body; undefined when there is none. */
type DataIn<S> = S extends StandardSchema ? Infer<S> : S extends Fields ? OutputOf<S> : undefined;

/** The success that the route declares. */
export interface Success<O> {
  readonly ok: true;
  readonly status: StatusOf<O>;
  /**
   * The body as JSON, of the declared type if there is one; a text when the answer is not JSON; `undefined` without a
   * body.
   */
  readonly data: O extends { readonly response: infer S extends StandardSchema } ? Infer<S> : InlineDataOf<O>;
  readonly headers: Headers;
}

type InlineDataOf<O> = O extends { readonly response: infer F extends Fields } ? OutputOf<F> : unknown;

/** An error answer. */
export interface Failed {
  readonly ok: false;
  readonly status: number;
  readonly problem: ProblemDetails;
  readonly headers: Headers;
}
