import type { App } from "./app/app.ts";
import { ok } from "./http/response.ts";
import { encodeUtf8 } from "./platform.ts";
import type { RawHeader, RawRequest } from "./raw.ts";
import { atRehearsal } from "./rehearse.ts";
import type { AnyHandler, Operation, RouteOptions } from "./routing/operation.ts";
import type { EnumSchema } from "./schema/enum.ts";
import type { FormSchema } from "./schema/form.ts";
import type { ListSchema } from "./schema/list.ts";
import type { Fields, ObjectSchema } from "./schema/object.ts";
import { isSchema, type Schema } from "./schema/schema.ts";
import type { StandardSchema } from "./schema/standard.ts";

/**
 * Asks every route of an app, so that a snapshot taken afterwards contains the objects that an engine makes at first
 * use: mainly regular expressions and object shapes. Otherwise every fresh instance would make them again. It calls no
 * handler, no schema of another library, and not the host; call it at the top level of the entry, before the snapshot.
 * Handlers of routes with `warm` are called at the rehearsal.
 *
 * It asks only the app's own routes, so that unused code does not get into the component.
 */
export function warmUp(app: App): void {
  for (const operation of app.operations) {
    for (const path of operation.paths) {
      const [valid, ...others] = requests(operation, path);
      if (valid === undefined) continue;
      for (const request of [valid, ...others]) ask(app, request);
      if (operation.options.warm) atRehearsal(() => app.handle(valid));
    }
  }
  // Encoded, so that decoding has run once.
  ask(app, { method: "OPTIONS", pathWithQuery: "/tenon/warm%2Dup", headers: [] });
}

const insteadOfHandlers: AnyHandler = () => ok({}).header("x-warm-up", "");

function ask(app: App, request: RawRequest): void {
  void app.handle(request, { insteadOfHandlers });
}

/** Two requests: one that is answered, and one with invalid input. */
function requests({ method, options }: Operation, path: string): RawRequest[] {
  if (usesForeign(options)) return [];
  const at = path.replace(/\{(\w+)\*?\}/g, (_, name) => text(fieldsOf(options.path)[name]));
  const query = Object.entries(fieldsOf(options.query)).map(([key, field]) => `${key}=${text(field)}`);
  const { form } = (options.body ?? {}) as Partial<FormSchema>;
  const sample = form?.sample(text) ?? {
    contentType: "application/json",
    body: encodeUtf8(JSON.stringify(example(options.body as Schema | undefined))),
  };
  const headers = Object.entries(fieldsOf(options.headers)).map(
    ([key, field]): RawHeader => [key, encodeUtf8(text(field))],
  );
  headers.push(["content-type", encodeUtf8(sample.contentType)]);
  return [
    { method, pathWithQuery: `${at}?${query.join("&")}`, headers, body: sample.body },
    { method, pathWithQuery: `${at}?+=%20`, headers: [], body: encodeUtf8("{}") },
  ];
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

/** Makes a value that a schema accepts in most cases; a refused one has warmed up most of it, too. */
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
