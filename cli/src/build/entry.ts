import { thrownPage } from "../dev/error-page.ts";
import { ownTimers } from "./own-timers.ts";
import { watchThrown } from "./watch-thrown.ts";

/** The entry's name in errors and in the source map; it is generated, so an error in it is about what the handler module exports. */
export const entryName = "tenon-entry";

/** What runs before all modules: until the entry's own turn `env` and the like are refused. */
export const prologue = `globalThis[Symbol.for("tenon.building")] = new Map();\n(${ownTimers})();`;

/**
 * The module that is componentized: it connects what the handler module exports with what the world `handler-glue` wants.
 * A route that was declared and is in no app ends the build: a spread of modules loses what has a name twice. The SDK looks the environment up by this key when a handler asks for it, never before. What it prints, the build shows.
 *
 * @param source absolute path of the handler module
 * @param checkResponses whether a response that does not match its declared type is answered with 500, and an exception
 *   shown to browsers, as in development
 */
export function entryModule(source: string, checkResponses: boolean): string {
  return `
import { getEnvironment } from "wasi:cli/environment@0.2.10";
import { ${checkResponses ? "checkResponse, " : ""}warmUp } from "@tenon/sdk";
import app from ${JSON.stringify(source)};

if (app?.[Symbol.for("tenon.app")] !== true) {
  throw new TypeError("the default export is not what routes() gives: export default routes({ … })");
}
for (const { name, options } of app.operations) {
  for (const kind of ["path", "query", "body", "response"]) {
    const { vendor, jsonSchema } = options[kind]?.["~standard"] ?? {};
    if (vendor && vendor !== "tenon" && !jsonSchema) {
      console.log(\`warning: \${name}: the schema of its \${kind} (\${vendor}) has no Standard JSON Schema, so there is no OpenAPI document\`);
    }
  }
}
const lost = [...globalThis[Symbol.for("tenon.building")].values()];
if (lost.length > 0) {
  const [first] = lost;
  first.message = "no routes() has " + lost.slice(0, 10).map(({ message }) => message).join(", and none ");
  throw first;
}
globalThis[Symbol.for("tenon.environment")] = getEnvironment;
delete globalThis[Symbol.for("tenon.building")];
warmUp(app);
const forgetTimers = globalThis[Symbol.for("tenon.timers")];
const handle = ${checkResponses ? `(${watchThrown})((request) => app.handle(request, { checkResponse }), ${JSON.stringify(thrownPage())})` : "app.handle"};
export const handler = {
  handle(request) {
    forgetTimers();
    return handle(request);
  },
};
`;
}

/** The same for a handler module whose default export is no app of `routes`: one that speaks `fetch`, such as Hono's. */
export function fetchEntryModule(source: string): string {
  return `
import { getEnvironment } from "wasi:cli/environment@0.2.10";
import { fetchHandler } from "@tenon/sdk/fetch";
import app from ${JSON.stringify(source)};

// A library may bring the SDK inside its own bundle.
const isApp = app?.[Symbol.for("tenon.app")] === true;
if (!isApp && typeof app?.fetch !== "function") {
  throw new TypeError("the default export is not what routes() gives: export default routes({ … })");
}
const handle = isApp ? (request) => app.handle(request) : fetchHandler(app);
globalThis[Symbol.for("tenon.environment")] = getEnvironment;
delete globalThis[Symbol.for("tenon.building")];
const forgetTimers = globalThis[Symbol.for("tenon.timers")];
export const handler = {
  handle(request) {
    forgetTimers();
    return handle(request);
  },
};
`;
}
