import type { App } from "../app/app.ts";
import { PHRASES_BELOW_400, reasonPhrase } from "../http/status.ts";
import type { Middleware } from "../middleware/types.ts";
import { answersOf } from "../routing/answers.ts";
import type { Operation } from "../routing/operation.ts";
import type { StandardSchema } from "../schema/standard.ts";
import { type Components, reference, type SchemaObject } from "./components.ts";
import { contentSchema } from "./content.ts";

/** A Response Object. */
export interface ResponseObject {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: SchemaObject }>>;
}

/** The text of 200 is the specification's, the others are the registry's (RFC 9110 section 15). */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  ...PHRASES_BELOW_400,
  200: "Success",
  203: "Non-Authoritative Information",
  205: "Reset Content",
  206: "Partial Content",
  300: "Multiple Choices",
};

/** The responses of an operation: its declared answers, and the two classes of errors. */
export function responses(
  operation: Operation,
  use: App["use"],
  components: Components,
  at: string,
): Record<string, ResponseObject> {
  const around = [...use, ...operation.use] as readonly Middleware[];
  const all = Object.assign({}, ...around.map(({ openapi }) => openapi?.responses ?? {}), answersOf(operation));
  const declared = Object.entries<StandardSchema | null | undefined>(all).map(([key, body]) => {
    const status = Number(key);
    const place = status === operation.status ? `${at}, response` : `${at}, response ${key}`;
    return [key, response(status, body ? contentSchema(body, "output", components, place) : undefined)];
  });
  return {
    ...Object.fromEntries(declared),
    "4XX": problem("Client Error"),
    "5XX": problem("Server Error"),
  };
}

function response(status: number, schema: SchemaObject | undefined): ResponseObject {
  const description =
    DESCRIPTIONS[status] ?? (status < 300 ? "Success" : status < 400 ? "Redirect" : reasonPhrase(status));
  if (schema === undefined) return { description };
  return { description, content: { [status < 400 ? "application/json" : "application/problem+json"]: { schema } } };
}

function problem(description: string): ResponseObject {
  return { description, content: { "application/problem+json": { schema: reference("ProblemDetails") } } };
}
