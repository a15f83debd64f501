import type { Request } from "../http/request.ts";
import type { ErrorResponse, Response } from "../http/response.ts";
import type { ErrorStatus, RedirectStatus } from "../http/status.ts";
import type { Fields, OutputOf, PathSchema } from "../schema/object.ts";
import type { Infer, InferInput, StandardSchema } from "../schema/standard.ts";
import type { Paths, RouteOptions } from "./operation.ts";

/** The success status that a route without `responses` declares. */
export type StatusOf<O> = O extends { readonly status: infer Status extends number } ? Status : 200;

/** The success body that a route declares; any when it declares none. */
export type BodyOf<O> = O extends { readonly response: infer S extends StandardSchema }
  ? Returned<Infer<S>>
  : InlineBodyOf<O>;
// By itself, so that the type checker evaluates it for few routes.
type InlineBodyOf<O> = O extends { readonly response: infer F extends Fields } ? Returned<OutputOf<F>> : unknown;

/** The body that may be returned for a schema or inline fields. */
type BodyIn<S> = S extends StandardSchema ? Returned<Infer<S>> : S extends Fields ? Returned<OutputOf<S>> : undefined;

/**
 * The type that may be returned for a declared type: lists may be readonly, and an optional member may be null, as a
 * database returns it. It is not sent then.
 */
export type Returned<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Returned<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: ReturnedMember<T[K]> }
      : T;
// By itself, so that the type checker evaluates it once for each type of a member.
type ReturnedMember<T> = undefined extends T ? Returned<T> | null : Returned<T>;

/**
 * The answers of a handler, or promises of them: the declared success or any error; with `responses`, those and problem
 * details.
 */
export type HandlerAnswer<O> = O extends { readonly responses: infer R }
  ? Promised<AnswerOf<R> | ErrorResponse>
  : Promised<Response<StatusOf<O>, BodyOf<O>> | Response<RedirectStatus | ErrorStatus>>;
type Promised<T> = T | Promise<T>;

type AnswerOf<R> = { [S in keyof R & number]: Response<S, BodyIn<R[S]>> }[keyof R & number];

/** `unknown` for a prefix whose placeholders are those of the option `path`, else a type that names the error. */
export type PrefixRule<P extends string, F, Definitions> = [keyof F] extends [never]
  ? P extends `${string}${"{" | "/:" | "/*"}${string}`
    ? PrefixError<P>
    : unknown
  : [PrefixNames<F>, Placeholders<P>] extends [Placeholders<P>, PrefixNames<F>]
    ? Disagreeing<Definitions, PrefixValues<F>> extends infer Name
      ? [Name] extends [never]
        ? unknown
        : { readonly error: `${Name & string} asks for another type of a placeholder; see group(prefix, (g) => …)` }
      : never
    : { readonly error: `the option "path" must have the placeholders of ${P}` };
/** Not one object type: the compiler would print this name in place of the text. */
type PrefixError<P> = P extends `${string}{${string}`
  ? { readonly error: `the option "path" must have the placeholders of ${P}` }
  : { readonly error: Misspelled<P> };
/** The values of a prefix's placeholders; unknown without any. */
export type PrefixValues<F> = [keyof F] extends [never]
  ? unknown
  : F extends PathSchema<infer Values>
    ? Values
    : F extends Fields
      ? OutputOf<F>
      : unknown;
/** The names of declarations in a group whose handlers expect placeholders of other types than the group's. */
type Disagreeing<D, Values> = {
  [Name in keyof D]: D[Name] extends Expecting<infer Outer>
    ? Outer extends { readonly path: infer Asked }
      ? Values extends Pick<Asked, keyof Asked & keyof Values>
        ? never
        : Name
      : never
    : never;
}[keyof D];
type PrefixNames<F> = F extends PathSchema<infer Output> ? keyof Output & string : keyof F & string;

/**
 * A handler of a route with options. It receives exactly the kinds of input that the route declares, parsed and
 * validated (as a type without a name, so that an editor shows them and not the options), the request, and the context
 * that the middleware around it has added.
 *
 * `Outer` is the input that a group adds: the placeholders of its prefix. It is a method's type, whose parameters may ask
 * for more: a handler that is declared outside its group asks for these placeholders itself.
 */
export type Handler<O, Context = unknown, Outer = unknown> = {
  handle(
    input: {
      [K in keyof O & ("path" | "query" | "headers" | "body")]: InputIn<O[K]>;
    } & Outer,
    request: Request,
    context: Context,
  ): HandlerAnswer<O>;
}["handle"];

/**
 * A route or a group with the input that its handlers expect of the groups around it. The type checker infers `Outer`
 * from the place of a declaration, because the definitions of a group expect this type.
 */
export type InPlace<Declared, Outer> = unknown extends Outer ? Declared : Declared & Expecting<Outer>;
/** Carries the type of the input that handlers expect of the groups around them. Never set. */
export interface Expecting<Outer> {
  "~outer"?(outer: Outer): void;
}

/** The input that a schema or inline fields give. By itself, so that the type checker evaluates it once for each. */
type InputIn<S> = S extends StandardSchema ? Infer<S> : InlineOf<S>;
/** The object type of inline fields. */
type InlineOf<F> = F extends Fields ? OutputOf<F> : never;

/**
 * The part of a required context that `Given` lacks. A member that `Given` has with another type is `never`: a
 * middleware further out can't provide it, because the inner one replaces it.
 */
export type Unmet<Asked, Given> = [Given] extends [Asked]
  ? unknown
  : {
      [K in keyof Asked as K extends keyof Given
        ? [Given[K]] extends [Asked[K]]
          ? never
          : K
        : K]: K extends keyof Given ? never : Asked[K];
    };

/** The names of the placeholders in a path, without the star of one that takes the rest. */
export type PlaceholderNames<P extends string> = Starless<Placeholders<P>>;
type Starless<Names> = Names extends `${infer Name}*` ? Name : Names;

/** `unknown` for a path whose placeholders are spelled as Tenon does, else a type that names the error. */
export type Spelled<P extends Paths> = SpelledText<P extends string ? P : P[number]>;
type SpelledText<P> = [Misspelled<P>] extends [never] ? unknown : { readonly error: Misspelled<P> };
type Misspelled<P> = P extends `${string}/:${infer Name}`
  ? `a placeholder must be written {${Segment<Name>}}`
  : P extends `${string}*}/${string}`
    ? "the rest of the path must be the last segment"
    : P extends `${string}*}`
      ? never
      : P extends `${string}*${string}`
        ? "the rest of a path must be written {name*}"
        : never;
type Segment<Text> = Text extends `${infer First}/${string}` ? First : Text;

/** The placeholders in a path as they are written. */
export type Placeholders<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Rest extends ""
    ? Name
    : Name | Placeholders<Rest>
  : never;

/**
 * `unknown` when every option is known and `path` has just the fields that every path has as placeholders, else a type
 * that names the error.
 */
export type PathRule<P extends Paths, O> = keyof O extends keyof RouteOptions
  ? O extends { readonly path: PathSchema<infer Output> }
    ? Fits<keyof Output, P>
    : OtherPathRule<P, O>
  : UnknownOptions<O>;

/**
 * The same rule for another library's schema, and for inline fields. It is separate, so that the type checker evaluates
 * it only for such routes.
 */
type OtherPathRule<P extends Paths, O> = O extends { readonly path: infer S extends StandardSchema }
  ? Fits<keyof InferInput<S> & string, P>
  : O extends { readonly path: infer F extends Fields }
    ? Fits<keyof F & string, P>
    : SpelledRule<Misspelled<P extends string ? P : P[number]>>;
type SpelledRule<Wrong> = [Wrong] extends [never] ? unknown : { readonly path: Wrong };

/** Accepts the usual path without searching for errors. */
type Fits<Names extends PropertyKey, P extends Paths> = P extends `${string}{${infer Name}}${infer Rest}`
  ? [Names, Name | Placeholders<Rest>] extends [Name | Placeholders<Rest>, Names]
    ? unknown
    : Misfit<Names & string, P>
  : Misfit<Names & string, P extends string ? P : P[number]>;

type Misfit<Names extends string, P extends string> =
  Mismatch<Names, P> extends infer Wrong ? ([Wrong] extends [never] ? unknown : { readonly path: Wrong }) : never;

/** The error of each path, `never` for valid ones. */
type Mismatch<Names extends string, P extends string> = P extends string
  ? string extends P
    ? never
    :
        | (Exclude<Names, PlaceholderNames<P>> extends infer Surplus extends string
            ? `${P} has no {${Surplus}}`
            : never)
        | (Exclude<PlaceholderNames<P>, Names> extends infer Missing extends string
            ? `the Path has no field for {${Missing}} of ${P}`
            : never)
  : never;

/** A type that unknown options do not satisfy. */
type UnknownOptions<O> = { readonly [K in Exclude<keyof O, keyof RouteOptions>]: never };
