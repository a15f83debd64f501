/** An operation: a method at a path, with its inputs, outputs and handler. */
import type { Request } from "../http/request.ts";
import type { Response } from "../http/response.ts";
import type { JsonFields } from "../schema/object.ts";
import type { PathFields } from "../schema/path.ts";
import type { QueryFields } from "../schema/query.ts";
import type { StandardSchema } from "../schema/standard.ts";
import type { Around } from "./step.ts";

/** The methods that a route can have. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Any Standard Schema; one of our own object schemas must have the role. */
type SchemaFor<Role extends string> = StandardSchema & { readonly role?: Role };

/** The options of a route that are kept unchanged. */
interface PlainOptions {
  /** The success status; 200 by default. */
  readonly status?: number;
  /** Marks the operation as deprecated in the OpenAPI document. */
  readonly deprecated?: boolean;
  /**
   * Makes the build call the route once, with values made from its schemas, so that its first-use work is in the
   * snapshot. Middleware runs, sidecars answer with empty results, and random values are refused. Values that the
   * handler leaves in the module's variables are in every instance.
   */
  readonly warm?: boolean;
}

/** The options of a route. */
export interface RouteOptions extends PlainOptions {
  /** The body: a `Type` or a `list` for JSON, a `Form`, or any Standard Schema for JSON. */
  readonly body?: SchemaFor<"type" | "form">;
  /** The JSON body of the success answer: a `Type` or a `list`. */
  readonly response?: SchemaFor<"type">;
  /** The JSON bodies of several answers, by status; undefined for an answer without a body. */
  readonly responses?: Readonly<Record<number, StandardSchema | undefined>>;
  /** The tags of its group in the OpenAPI document. */
  readonly tags?: readonly string[];
  /** The placeholders of the path: a `Path`, or any Standard Schema of an object with the same keys. */
  readonly path?: SchemaFor<"path">;
  /** The query: a `Query`, or any Standard Schema of an object of texts and lists of texts. */
  readonly query?: SchemaFor<"query">;
  /** The headers: fields by their names in lower case, or any Standard Schema of an object of texts. */
  readonly headers?: SchemaFor<"headers">;
}

/** The options of a route as they are written, with fields allowed instead of a schema. */
// An interface of its own, because `Omit` costs the type checker two per cent.
export interface GivenOptions extends PlainOptions {
  /** The body: its fields, a `Type` or a `list` for JSON, a `Form`, or any Standard Schema for JSON. */
  readonly body?: SchemaFor<"type" | "form"> | JsonFields;
  /** The JSON body of the success answer: its fields, a `Type` or a `list`. */
  readonly response?: SchemaFor<"type"> | JsonFields;
  /**
   * Several answers, by status, in place of `response` and `status`: `{ 200: User, 201: User, 404: Problem }`. `null` is
   * an answer without a body, as `{ 204: null }`.
   */
  readonly responses?: Readonly<Record<number, SchemaFor<"type"> | JsonFields | null | undefined>>;
  /** The placeholders of the path: their fields, a `Path`, or any Standard Schema of an object with the same keys. */
  readonly path?: SchemaFor<"path"> | PathFields;
  /** The query: its fields, a `Query`, or any Standard Schema of an object of texts and lists of texts. */
  readonly query?: SchemaFor<"query"> | QueryFields;
  /** The headers: fields by their names in lower case, or any Standard Schema of an object of texts. */
  readonly headers?: SchemaFor<"headers"> | QueryFields;
}

/** A route's path, or several: `["/", ""]`. */
export type Paths = string | readonly [string, ...string[]];

/** A handler in the pipeline's type; its declaration checks the exact types. */
export type AnyHandler = (input: never, request: Request, context: never) => Response | Promise<Response>;

/**
 * A route without a name, from `get`, `post`, …
 *
 * The type arguments exist for the type checker alone: the paths, the options, and the context that the handler asks
 * for and that the middleware around the route has to add.
 */
export interface Route<out P extends Paths = Paths, out Options = unknown, in Needs = unknown> {
  readonly method: Method;
  readonly paths: readonly string[];
  readonly options: RouteOptions;
  readonly handler: AnyHandler;
  /** The middleware of the kit that declared it, the outermost first. */
  readonly use: readonly Around[];
  /** Never set: it carries the types. */
  readonly "~types"?: { readonly path: P; readonly options: Options; readonly needs: (context: Needs) => void };
}

/** A route with its handler's name: one entry of {@link App.operations}. */
export interface Operation extends Omit<Route, "~types"> {
  /** Its key in `routes({ … })`, prefixed with the group's name and a dot. */
  readonly name: string;
  /** The middleware of its groups and of its kit, the outermost first. */
  readonly use: readonly Around[];
  /** The success status. */
  readonly status: number;
  readonly deprecated: boolean;
}

/** Returns the answer to send: the handler's own, or a 500 that names where it differs from its route's declaration. */
export type CheckResponse = (operation: Operation, response: Response) => Promise<Response>;
