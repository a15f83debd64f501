import type { Request } from "../http/request.ts";
import type { Response } from "../http/response.ts";
import type { StandardSchema } from "../schema/standard.ts";

/** The methods that a route can have. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Any Standard Schema; of our own schemas of objects, one for this place. */
type SchemaFor<Role extends string> = StandardSchema & { readonly role?: Role };

/** The options of a route, as they were given. */
export interface RouteOptions {
  /** The placeholders of the path: a `Path`, or any Standard Schema of an object with the same keys. */
  readonly path?: SchemaFor<"path">;
  /** The query: a `Query`, or any Standard Schema of an object of texts and lists of texts. */
  readonly query?: SchemaFor<"query">;
  /** The JSON body: a `Type`, a `list`, or any Standard Schema. */
  readonly body?: SchemaFor<"type">;
  /** The JSON body of the success answer: a `Type` or a `list`. */
  readonly response?: SchemaFor<"type">;
  /** The success status; 200 unless it is given. */
  readonly status?: number;
  /** Marks the operation as deprecated in the OpenAPI document. */
  readonly deprecated?: boolean;
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
