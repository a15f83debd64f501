import { encodeUtf8 } from "../platform.ts";
import type { RawHeader, RawRequest } from "../raw.ts";
import { atRehearsal } from "../rehearse.ts";
import type { Operation, RouteOptions } from "../routing/operation.ts";
import type { EnumSchema } from "../schema/enum.ts";
import type { FormSchema } from "../schema/form.ts";
import type { ListSchema } from "../schema/list.ts";
import type { Fields, ObjectSchema } from "../schema/object.ts";
import { isSchema, type Schema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";
import type { App } from "./app.ts";

/**
 * Lets the build's rehearsal call each route with `warm` once for each of its paths, with values made from its schemas. Routes with a
 * schema of another library are left out.
 */
export function warmUp(app: App): void {
  for (const operation of app.operations) {
    const { options, paths } = operation;
    if (!options.warm || usesForeign(options)) continue;
    for (const path of paths) atRehearsal(() => app.handle(request(operation, path)));
  }
}

/** Makes a request with inputs that the schemas accept. */
function request({ method, options }: Operation, path: string): RawRequest {
  const at = path.replace(/\{(\w+)\*?\}/g, (_, name) => text(fieldsOf(options.path)[name]));
  const query = Object.entries(fieldsOf(options.query)).map(([key, field]) => `${key}=${text(field)}`);
  const { form } = (options.body ?? {}) as Partial<FormSchema>;
  const { contentType, body } = form?.sample(text) ?? {
    contentType: "application/json",
    body: encodeUtf8(JSON.stringify(example(options.body as Schema | undefined))),
  };
  const headers = Object.entries(fieldsOf(options.headers)).map(
    ([key, field]): RawHeader => [key, encodeUtf8(text(field))],
  );
  headers.push(["content-type", encodeUtf8(contentType)]);
  return { method, pathWithQuery: `${at}?${query.join("&")}`, headers, body };
}

/** Reports another library's schema, which may call any code of its user. */
function usesForeign({ path, query, headers, body }: RouteOptions): boolean {
  return [path, query, headers, body].some((schema) => schema && !isSchema(schema));
}

function fieldsOf(schema: StandardSchema | undefined): Fields {
  return (schema as unknown as ObjectSchema | undefined)?.fields ?? {};
}

function text(schema: Schema | undefined): string {
  return encodeURIComponent(String(schema ? example(schema) : "x"));
}

/** Makes a value that a schema accepts in most cases. */
function example(schema: Schema | undefined): unknown {
  const { min = 0 } = schema?.attributes ?? {};
  switch (schema?.kind) {
    case undefined:
      return {};
    case "bool":
      return true;
    case "enum":
      return (schema as EnumSchema).values[0];
    case "list":
      return [example((schema as ListSchema).items)];
    case "object":
      return Object.fromEntries(Object.entries(fieldsOf(schema)).map(([key, field]) => [key, example(field)]));
    default:
      return schema?.parsers.sample?.(example) ?? min;
  }
}
