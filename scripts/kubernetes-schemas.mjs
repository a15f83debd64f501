// Writes JSON Schemas for kubeconform from the OpenAPI document of Kubernetes (`api/openapi-spec/swagger.json`): one
// strict file for each kind. `node scripts/kubernetes-schemas.mjs <swagger.json> <folder>`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [swagger, folder] = process.argv.slice(2);
if (swagger === undefined || folder === undefined) {
  console.error("usage: node scripts/kubernetes-schemas.mjs <swagger.json> <folder>");
  process.exit(2);
}
const kinds = ["ConfigMap", "Deployment", "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget"];
kinds.push("Service", "ServiceAccount");

const { definitions } = JSON.parse(readFileSync(swagger, "utf8"));
for (const definition of Object.values(definitions)) {
  // The document declares these two as texts, but Kubernetes accepts numbers.
  if (definition.format === "int-or-string")
    Object.assign(definition, { type: ["string", "integer"], format: undefined });
  if (definition.properties !== undefined) definition.additionalProperties ??= false;
}
definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"].type = ["string", "number"];

mkdirSync(folder, { recursive: true });
for (const [name, definition] of Object.entries(definitions)) {
  for (const { group, version, kind } of definition["x-kubernetes-group-version-kind"] ?? []) {
    if (!kinds.includes(kind)) continue;
    const file = [kind, ...(group === "" ? [] : [group.split(".")[0]]), version].join("-").toLowerCase();
    writeFileSync(join(folder, `${file}.json`), JSON.stringify({ $ref: `#/definitions/${name}`, definitions }));
  }
}
