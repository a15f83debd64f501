import type { Request } from "../http/request.ts";
import type { Response } from "../http/response.ts";
import type { PathFields } from "../schema/path.ts";
import type { QueryFields } from "../schema/query.ts";
import type { StandardSchema } from "../schema/standard.ts";

/** The methods that a route can have. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Any Standard Schema; of our own schemas of objects, one for this place. */
type SchemaFor<Role extends string> = StandardSchema & { readonly role?: Role };

/** The options of a route that stay as they are written. */
interface PlainOptions {
  /** The JSON body: a `Type`, a `list`, or any Standard Schema. */
  readonly body?: SchemaFor<"type">;
  /** The JSON body of the success answer: a `Type` or a `list`. */
  readonly response?: SchemaFor<"type">;
  /** The success status; 200 unless it is given. */
  readonly status?: number;
  /** Marks the operation as deprecated in the OpenAPI document. */
  readonly deprecated?: boolean;
}

/** The options of a route. */
export interface RouteOptions extends PlainOptions {
  /** The placeholders of the path: a `Path`, or any Standard Schema of an object with the same keys. */
  readonly path?: SchemaFor<"path">;
  /** The query: a `Query`, or any Standard Schema of an object of texts and lists of texts. */
  readonly query?: SchemaFor<"query">;
}

/** The options of a route as they are written: fields may stand in the place of a `Path` and a `Query`. */
// An interface of its own and no `Omit`, which costs the type checker two in a hundred.
export interface GivenOptions extends PlainOptions {
  /** The placeholders of the path: their fields, a `Path`, or any Standard Schema of an object with the same keys. */
  readonly path?: SchemaFor<"path"> | PathFields;
  /** The query: its fields, a `Query`, or any Standard Schema of an object of texts and lists of texts. */
  readonly query?: SchemaFor<"query"> | QueryFields;
}

/** A handler as the pipeline calls it: the types were checked where it was declared. */
export type AnyHandler = (input: never, request: Request) => Response | Promise<Response>;

/** What `get`, `post`, … make: a route that has no name yet. */
export interface Route {
  readonly method: Method;
  readonly paths: readonly string[];
  readonly options: RouteOptions;
  readonly handler: AnyHandler;
}

/** A route with its handler's name: one entry of {@link App.operations}. */
export interface Operation extends Route {
  /** The key under which it stands in `routes({ … })`. */
  readonly name: string;
  /** The success status. */
  readonly status: number;
  readonly deprecated: boolean;
}
