/** The generated entry of a bundle, which connects the handler module with the component's exports. */

import type { Probing } from "@tenon/guest/entry/until";
import type { ToolTable } from "@tenon/sdk/openapi";
import { thrownPage } from "../dev/error-page.ts";

/**
 * The entry's name in errors and in the source map. The entry is generated, so an error in it concerns the handler
 * module's exports.
 */
export const entryName = "tenon-entry";

/** The modules that connect the SDK with what runs it, before all other modules: Tenon's engine, and that of componentize-js. */
export const hosts = { engine: "tenon-platform:host.js", reference: "tenon-reference:host.js" } as const;

/** The module that refuses listeners of `fetch`, for handler modules that name `addEventListener`. */
export const refuseListeners = "tenon-entry:refuse-listeners.js";

/** The name of one of {@link hosts}. */
export type HostName = keyof typeof hosts;

/** The forms of a default export, for errors. */
export const appForms = "export default routes({ … }), or an object with fetch(request)";

/** The tools of an app with the option `mcp`, or the error of making them. */
export interface ToolsOrError {
  readonly tools?: ToolTable | undefined;
  readonly error?: string;
}

/** Refuses a default export of another kind, which it names; `isApp` is the condition in the entry. */
const refuseUnless = (isApp: string) => `if (!(${isApp})) {
  throw new TypeError(\`the default export is \${kindOf(app)}: ${appForms}\`);
}`;

const imports = `import { kindOf } from "tenon-entry:kind-of.js";
import { refuseRandomness } from "tenon-entry:refuse-randomness.js";
import { streamsOf } from "tenon-entry:streams.js";
import { appKey, buildingKey, codeModeKey, environmentKey, toolsKey, WARM_UP } from "tenon-entry:abi.js";`;

/** Adds code mode: the SDK's tools, and the isolate that runs programs. */
const codeMode = `import "tenon-isolate:install.js";
import { codeMode } from "@tenon/sdk/code-mode";
globalThis[codeModeKey] = codeMode;
`;

/** The part of the entry that rehearses calls before the build's first request is answered. */
const rehearsal = `let isRehearsed = false;
const rehearseAll = async (request) => {
  const allowRandomness = refuseRandomness();
  await rehearse();
  allowRandomness();
  return handle(request);
};`;

/**
 * Connects the handler module to the component's exports. The SDK looks the environment up by its key when a handler asks
 * for it, never before.
 *
 * @param handle the function that answers a request, as an expression in the entry
 */
const connect = (handle: string, probing?: Probing) => `globalThis[environmentKey] = getEnvironment;
delete globalThis[buildingKey];
const handle = ${handle};
${rehearsal}
${probing === undefined ? "" : `const until = ${JSON.stringify(probing)};\n`}export const handler = ${watched(
  probing,
  `{
  handle(request) {
    if (!isRehearsed && request.method === WARM_UP && request.body === undefined) {
      isRehearsed = true;
      return rehearseAll(request);
    }
    return handle(request);
  },
}`,
  "(request) => request.method === WARM_UP && request.body === undefined",
)};
export const streams = ${watched(probing, "streamsOf(handle)")};`;

const importWatch = (probing?: Probing) =>
  probing === undefined ? "" : 'import { watch } from "tenon-entry:until.js";\n';

/** An object of functions for the host, with the probes of a build for `tenon replay --until` around them. */
function watched(probing: Probing | undefined, exports: string, isRehearsal?: string): string {
  if (probing === undefined) return exports;
  return `watch(until, ${exports}${isRehearsal === undefined ? "" : `, ${isRehearsal}`})`;
}

/**
 * Writes the module that is componentized: it connects the handler module's export with the world `streaming-glue`. A route
 * that was declared and that no app has ends the build, because a spread of modules loses a name that occurs twice. The build
 * shows the module's output.
 *
 * @param source the handler module, as the project's folder imports it
 * @param checkResponses whether a response that does not match its declared type is answered with 500, and an exception
 *   shown to browsers, as in development
 */
export function entryModule(
  source: string,
  checkResponses: boolean,
  host: HostName,
  { tools, error }: ToolsOrError = {},
  probing?: Probing,
): string {
  const handle = checkResponses
    ? `watchThrown((request) => app.handle(request, { checkResponse }), ${JSON.stringify(thrownPage())})`
    : "app.handle";
  return `
import { getEnvironment } from "${hosts[host]}";
import { ${checkResponses ? "checkResponse, " : ""}rehearse, warmUp } from "@tenon/sdk";
${imports}
${importWatch(probing)}${checkResponses ? 'import { watchThrown } from "tenon-entry:watch-thrown.js";\n' : ""}${tools?.code ? codeMode : ""}import app from ${JSON.stringify(source)};

${refuseUnless("app?.[appKey] === true")}
// The bare name of console would add the methods that format.
const scope = globalThis;
for (const { name, options } of app.operations) {
  for (const kind of ["path", "query", "headers", "body", "response"]) {
    const { vendor, jsonSchema } = options[kind]?.["~standard"] ?? {};
    if (vendor && vendor !== "tenon" && !jsonSchema) {
      scope.console.log(\`warning: \${name}: the schema of its \${kind} (\${vendor}) has no Standard JSON Schema, so there is no OpenAPI document\`);
    }
  }
}
const lost = [...globalThis[buildingKey].values()];
if (lost.length > 0) {
  const [first] = lost;
  first.message = "no routes() has " + lost.slice(0, 10).map(({ message }) => message).join(", and none ");
  throw first;
}
${tools === undefined ? "" : `const tools = ${JSON.stringify(tools)};\nglobalThis[toolsKey] = () => tools;\n`}${
  error === undefined ? "" : `if (app.mcp !== undefined) throw new Error(${JSON.stringify(error)});\n`
}
${connect(handle, probing)}
warmUp(app);
`;
}

/** Writes the same for a module that may speak `fetch`, as Hono's apps do, instead of exporting an app of `routes`. */
export function fetchEntryModule(source: string, host: HostName, probing?: Probing): string {
  return `
import { getEnvironment } from "${hosts[host]}";
import { appOf, fetchHandler, rehearse } from "@tenon/sdk/fetch";
${imports}
${importWatch(probing)}import * as handlerModule from ${JSON.stringify(source)};

const app = appOf(handlerModule.default);
// A library may bring the SDK inside its own bundle.
const isApp = app?.[appKey] === true;
${refuseUnless('isApp || typeof app?.fetch === "function"')}
${connect("isApp ? (request) => app.handle(request) : fetchHandler(app)", probing)}
`;
}
