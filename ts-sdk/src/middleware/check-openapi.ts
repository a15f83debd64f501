import { refuseUnknown } from "../schema/unknown.ts";
import type { MiddlewareOpenApi } from "./security.ts";

const LABEL = 'middleware: "openapi"';
/** The members that each type of a Security Scheme Object needs. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  apiKey: ["name", "in"],
  http: ["scheme"],
  oauth2: ["flows"],
  openIdConnect: ["openIdConnectUrl"],
  mutualTLS: [],
};

/** @throws TypeError or RangeError naming the member that the OpenAPI document cannot have. */
export function checkOpenApi(given: MiddlewareOpenApi): void {
  checkObject(LABEL, given);
  refuseUnknown(LABEL, given, ["security", "responses"]);
  const { security = {}, responses = {} } = given;
  checkObject(`${LABEL}, "security"`, security);
  for (const [name, scheme] of Object.entries(security)) {
    const label = `${LABEL}, "security.${name}"`;
    if (!/^[\w.-]+$/.test(name))
      throw new TypeError(`${label}: a name must have letters, digits, ".", "_" and "-" only`);
    checkObject(label, scheme);
    const needed = Object.hasOwn(NEEDED, scheme.type) ? NEEDED[scheme.type] : undefined;
    if (!needed) throw new TypeError(`${label}: "type" must be one of ${Object.keys(NEEDED).join(", ")}`);
    const missing = needed.find((member) => scheme[member] === undefined);
    if (scheme.type === "apiKey" && !["query", "header", "cookie"].includes(scheme["in"] as string)) {
      throw new TypeError(`${label}: "in" must be one of query, header, cookie`);
    }
    if (missing) throw new TypeError(`${label}: a scheme of type "${scheme.type}" must have "${missing}"`);
  }
  checkObject(`${LABEL}, "responses"`, responses);
  for (const [status, schema] of Object.entries(responses)) {
    const label = `${LABEL}, "responses.${status}"`;
    if (!/^[1-5]\d\d$/.test(status)) throw new RangeError(`${label}: a status must be from 100 to 599`);
    if (schema !== null && typeof schema?.["~standard"]?.validate !== "function") {
      throw new TypeError(`${label}: must be a schema, or null for an answer without a body`);
    }
  }
}

function checkObject(label: string, given: unknown): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`${label}: must be an object`);
  }
}
