/** The generated entry of a bundle, which connects the handler module with the component's exports. */
import { thrownPage } from "../dev/error-page.ts";
import { refuseRandomness } from "./refuse-randomness.ts";
import { watchThrown } from "./watch-thrown.ts";

/**
 * The entry's name in errors and in the source map. The entry is generated, so an error in it concerns the handler
 * module's exports.
 */
export const entryName = "tenon-entry";

/** The name of the module with {@link refuseListeners}. */
export const guardName = `${entryName}:guard`;

/** The modules that connect the SDK with what runs it, before all other modules: Tenon's engine, and that of componentize-js. */
export const hosts = { engine: "tenon-platform:host.js", reference: "tenon-reference:host.js" } as const;

/** The name of one of {@link hosts}. */
export type HostName = keyof typeof hosts;

/** The forms of a default export, for errors. */
export const appForms = "export default routes({ … }), or an object with fetch(request)";

/** Refuses a default export of another kind, which it names; `isApp` is the condition in the entry. */
const refuseUnless = (isApp: string) => `if (!(${isApp})) {
  throw new TypeError(\`the default export is \${(${kindOf})(app)}: ${appForms}\`);
}`;

/** Names the kind of a value. Runs inside the component, and so is all in one. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "function") return String(value).startsWith("class") ? "a class" : "a function";
  if (typeof value !== "object") return `a ${typeof value}`;
  const [kind] = /\w+(?=]$)/.exec(Object.prototype.toString.call(value)) ?? [];
  if (kind !== "Object") return `${/^[AEIO]/.test(String(kind)) ? "an" : "a"} ${kind}`;
  const keys = Object.keys(value).slice(0, 5).join(", ");
  return keys === "" ? "an object without properties" : `an object with ${keys}`;
}

const importAbi = `import { appKey, buildingKey, environmentKey, streamKey, uploadKey, WARM_UP } from "@tenon/sdk/abi";`;

/** The part of the entry that rehearses calls before the build's first request is answered. */
const rehearsal = `let isRehearsed = false;
const rehearseAll = async (request) => {
  const allowRandomness = (${refuseRandomness})();
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
const connect = (handle: string) => `globalThis[environmentKey] = getEnvironment;
delete globalThis[buildingKey];
const handle = ${handle};
const goOn = ({ method }) => globalThis[streamKey]?.(method) ?? { status: 500, headers: [] };
${rehearsal}
export const handler = {
  handle(request) {
    if (request.method[0] === ":") {
      if (request.method !== WARM_UP) return (globalThis[uploadKey] ?? goOn)(request, handle, goOn);
      if (!isRehearsed && request.body === undefined) {
        isRehearsed = true;
        return rehearseAll(request);
      }
    }
    return handle(request);
  },
};`;

/**
 * Writes the module that is componentized: it connects the handler module's export with the world `handler-glue`. A route
 * that was declared and that no app has ends the build, because a spread of modules loses a name that occurs twice. The build
 * shows the module's output.
 *
 * @param source the handler module, as the project's folder imports it
 * @param checkResponses whether a response that does not match its declared type is answered with 500, and an exception
 *   shown to browsers, as in development
 */
export function entryModule(source: string, checkResponses: boolean, host: HostName): string {
  const handle = checkResponses
    ? `(${watchThrown})((request) => app.handle(request, { checkResponse }), ${JSON.stringify(thrownPage())})`
    : "app.handle";
  return `
import { getEnvironment } from "${hosts[host]}";
import { ${checkResponses ? "checkResponse, " : ""}rehearse, warmUp } from "@tenon/sdk";
${importAbi}
import app from ${JSON.stringify(source)};

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
${connect(handle)}
warmUp(app);
`;
}

/**
 * Ends the build of a module that has routes and adds a listener of `fetch`, because it would never be called. It is in
 * bundles whose handler module names `addEventListener`, and runs after the modules that define it.
 */
export const refuseListeners = `(${refuseFetchListeners})();`;

function refuseFetchListeners(): void {
  const target = globalThis as unknown as Record<
    "addEventListener",
    ((type: string, ...rest: unknown[]) => void) | undefined
  >;
  const before = target.addEventListener;
  target.addEventListener = (type, ...rest) => {
    if (type === "fetch") {
      throw new TypeError(
        'it has routes and a listener of fetch, and only one of them can answer: remove the call of addEventListener("fetch", …)',
      );
    }
    before?.call(globalThis, type, ...rest);
  };
}

/** Writes the same for a module that may speak `fetch`, as Hono's apps do, instead of exporting an app of `routes`. */
export function fetchEntryModule(source: string, host: HostName): string {
  return `
import { getEnvironment } from "${hosts[host]}";
import { appOf, fetchHandler, rehearse } from "@tenon/sdk/fetch";
${importAbi}
import * as handlerModule from ${JSON.stringify(source)};

const app = appOf(handlerModule.default);
// A library may bring the SDK inside its own bundle.
const isApp = app?.[appKey] === true;
${refuseUnless('isApp || typeof app?.fetch === "function"')}
${connect("isApp ? (request) => app.handle(request) : fetchHandler(app)")}
`;
}
