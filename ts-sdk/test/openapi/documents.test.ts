/** The documents of whole packages: their content, and the reports of other OpenAPI tools about them. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020.js";
import Ajv from "ajv-draft-04";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import type { OpenApiVersion } from "../../src/openapi/dialects.ts";
import { json, packageJson } from "../../src/openapi/index.ts";
import unusual from "./unusual.ts";

const require = createRequire(import.meta.url);
const here = fileURLToPath(new URL(".", import.meta.url));
const scratch = join(here, "../../.tenon/documents");

/** The official schema of a version's documents, from the validator's package. */
function official(version: OpenApiVersion): { readonly id?: string; readonly $id?: string } {
  const folder = dirname(require.resolve("@seriousme/openapi-schema-validator"));
  return JSON.parse(readFileSync(join(folder, `schemas/v${version}/schema.json`), "utf8"));
}

const documentsOf = (version: OpenApiVersion) => ({
  hello: packageJson(join(here, "../../../examples/hello"), version),
  "every feature": packageJson(join(here, "every"), version),
  shop: packageJson(join(here, "../../../examples/shop"), version),
  unusual: json(unusual, { name: "unusual", version: "1.0.0" }, { source: join(here, "unusual.ts"), openapi: version }),
});
const documents = documentsOf("3.0");
const documents31 = documentsOf("3.1");

it("is OpenAPI 3.0, unless another version is asked for", () => {
  expect(packageJson(join(here, "every"))).toBe(documents["every feature"]);
  const source = join(here, "unusual.ts");
  expect(json(unusual, { name: "unusual", version: "1.0.0" }, { source })).toBe(documents.unusual);
});

/** Declares the tests that a document of any version passes. */
function isValid(text: string, version: OpenApiVersion): void {
  it("is valid by the official JSON schema", () => {
    const schema = official(version);
    expect(schema.id ?? schema.$id).toMatch(
      new RegExp(`^https://spec\\.openapis\\.org/oas/${version.replace(".", "\\.")}/schema/`),
    );
    const ajv = version === "3.0" ? new Ajv.default({ strict: false }) : new Ajv2020.default({ strict: false });
    addFormats.default(ajv);
    const validate = ajv.compile(schema);
    validate(JSON.parse(text));
    expect(validate.errors).toBeNull();
  });

  it("is valid by @seriousme/openapi-schema-validator, references and all", async () => {
    const validator = new Validator();
    expect(await validator.validate(text)).toEqual({ valid: true });
    expect(validator.version).toBe(version);
    expect(() => validator.resolveRefs()).not.toThrow();
  });
}

it.each([
  ["hello", join(here, "../../../examples/hello/openapi.json")],
  ["every feature", join(here, "every/openapi.json")],
] as const)("%s is what was read line by line against the specification's table", async (name, snapshot) => {
  await expect(documents[name]).toMatchFileSnapshot(snapshot);
});

describe.each(Object.entries(documents))("%s", (name, text) => {
  isValid(text, "3.0");

  it("passes redocly lint, with its recommended rules", async () => {
    mkdirSync(scratch, { recursive: true });
    const file = join(scratch, `${name.replace(" ", "-")}.json`);
    writeFileSync(file, text);
    const redocly = join(dirname(require.resolve("@redocly/cli/package.json")), "bin/cli.js");
    const args = [redocly, "lint", file, "--format=json"];
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: scratch, env });
    const { totals, problems } = JSON.parse(stdout) as { totals: object; problems: { ruleId: string }[] };
    // The linter wants a licence, which the specification does not require.
    expect({ totals, rules: problems.map(({ ruleId }) => ruleId) }).toEqual({
      totals: { errors: 0, warnings: 1, ignored: 0 },
      rules: ["info-license"],
    });
  });
});

describe.each(Object.entries(documents31))("%s in OpenAPI 3.1", (_name, text) => {
  isValid(text, "3.1");

  it("has schemas that are valid by the meta-schema of JSON Schema 2020-12", () => {
    const { components, paths } = JSON.parse(text);
    expect(text).not.toContain('"nullable"');
    const ajv = new Ajv2020.default({ strict: false });
    const found = [...Object.values(components.schemas as object), ...schemasIn(paths)];
    expect(found.length).toBeGreaterThan(3);
    for (const schema of found) expect([ajv.validateSchema(schema), ajv.errors]).toEqual([true, null]);
  });
});

/** The values of all members `schema` in a part of a document. */
function schemasIn(part: unknown): object[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => (key === "schema" ? [value] : schemasIn(value)));
}

it("differs from OpenAPI 3.0 in null, bytes and bounds only where it has to", async () => {
  await expect(documents31["every feature"]).toMatchFileSnapshot(join(here, "every/openapi-3.1.json"));
});
