/** Tests of the Helm chart: the lint, the rendered manifests, and the refusal of invalid values. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { describeWith } from "./needs.ts";
import { findProgram } from "./programs.ts";

const chart = fileURLToPath(new URL("../deploy/charts/tenon", import.meta.url));
const everything = fileURLToPath(new URL("chart-values.yaml", import.meta.url));

function helm(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(findProgram("helm") as string, args, { encoding: "utf8" });
}

/** Renders the manifests by their kinds. */
function render(...args: string[]): Map<string, string> {
  const { status, stdout, stderr } = helm("template", "shop", chart, "--kube-version", "1.33.0", ...args);
  expect(status, stderr).toBe(0);
  const documents = stdout.split(/^---$/m).filter((each) => each.includes("kind:"));
  return new Map(documents.map((each) => [/^kind: (\w+)$/m.exec(each)?.[1] ?? "", each]));
}

describeWith("helm", "the chart", () => {
  test("passes the lint", () => {
    for (const values of [[], ["--values", everything]]) {
      const { status, stdout } = helm("lint", "--strict", chart, ...values);
      expect(status, stdout).toBe(0);
    }
  });

  test("has these kinds by default, and these when everything is on", () => {
    const always = ["Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"];
    expect([...render().keys()].sort()).toEqual(always);
    const all = [...always, "ConfigMap", "HorizontalPodAutoscaler", "ServiceMonitor"].sort();
    expect([...render("--values", everything).keys()].sort()).toEqual(all);
  });

  test("every container is closed, and the server serves on after SIGTERM while it is not ready", () => {
    const deployment = render("--values", everything).get("Deployment") ?? "";
    const containers = deployment.match(/^ {8}- name: (?:db|cache|server)$/gm) ?? [];
    expect(containers).toHaveLength(3);
    for (const line of [
      "allowPrivilegeEscalation: false",
      "readOnlyRootFilesystem: true",
      "capabilities: { drop: [ALL] }",
    ])
      expect(deployment.split(line), line).toHaveLength(containers.length + 1);
    expect(deployment.match(/^ {10}restartPolicy: Always$/gm)).toHaveLength(2);
    expect(deployment).toContain("runAsNonRoot: true");
    expect(deployment).toContain("automountServiceAccountToken: false");
    expect(deployment).toContain('{ name: TENON_SERVER_DRAIN_MS, value: "5000" }');
    expect(deployment).not.toContain("preStop");
    for (const path of ["/ready", "/health"]) expect(deployment).toContain(`{ path: ${path}, port: metrics }`);
    expect(deployment).toContain('[tenon, sidecar, health, "unix:///run/tenon/db.sock"]');
    // An autoscaler owns the number of replicas.
    expect(deployment).not.toContain("replicas:");
    expect(render().get("Deployment")).toContain("replicas: 2");
  });

  test("a sidecar's secret is mounted in its own container only", () => {
    const deployment = render("--values", everything).get("Deployment") ?? "";
    expect(deployment.match(/mountPath: \/run\/secrets\/tenon\/db,/g)).toHaveLength(1);
    const server = deployment.slice(deployment.indexOf("- name: server"), deployment.indexOf("      volumes:"));
    expect(server).not.toContain("/run/secrets/tenon/db");
    expect(server).toContain('value: "unix:///run/tenon/db.sock"');
  });

  test("metrics have a port of their own, for nobody but those who are named", () => {
    const named = render("--values", everything);
    expect(named.get("NetworkPolicy")?.match(/ports: \[\{ port: metrics \}\]/g)).toHaveLength(1);
    expect(named.get("ServiceMonitor")).toContain("port: metrics");
    expect(named.get("Service")).toContain("name: metrics");
    const usual = render();
    for (const kind of ["NetworkPolicy", "Service"]) expect(usual.get(kind)).not.toContain("metrics");
    expect(usual.get("Deployment")).toContain('{ name: TENON_SERVER_METRICS_ADDRESS, value: "0.0.0.0:9090" }');
  });

  test("whole numbers stay whole", () => {
    const deployment = render("--values", everything).get("Deployment") ?? "";
    expect(deployment).toContain('{ name: TENON_SERVER_MAX_BODY_BYTES, value: "10485760" }');
    expect(deployment).toContain('{ name: TENON_ENV_RATE, value: "0.5" }');
  });

  test("the keys of recording are variables, and their folder is on a volume", () => {
    const deployment = render("--values", everything).get("Deployment") ?? "";
    for (const [key, value] of [
      ["FOLDER", "/recordings"],
      ["SHARE", "0.01"],
      ["FAILURES", "false"],
      ["MAX_BYTES", "1073741824"],
      ["MASK", "x-api-key,#/card/number"],
    ]) {
      expect(deployment).toContain(`{ name: TENON_RECORD_${key}, value: "${value}" }`);
    }
    expect(deployment).toContain("mountPath: /recordings");
    expect(deployment).toContain("claimName: recordings");
    expect(render().get("Deployment")).not.toContain("TENON_RECORD");
  });

  test("components of a registry have a cache, others have that of the image", () => {
    expect(render("--set", "components={oci://a.b/shop:1}").get("Deployment")).toContain("TENON_CACHE_DIR");
    expect(render("--set", "components={/modules/shop.wasm}").get("Deployment")).not.toContain("TENON_CACHE_DIR");
  });

  test.each([
    "typo=1",
    "sidecars.db.kind=mail",
    "sidecars.d-b.kind=sql",
    "sidecars.db.kind=sql,sidecars.db.urlKey=url",
    "components={--host}",
    "service.port=0",
    "image.digest=latest",
    "networkPolicy.egress=all",
    "drainSeconds=0",
    "record.folders=/recordings",
  ])("the values %s are refused", (values) => {
    const { status, stderr } = helm("template", "shop", chart, "--kube-version", "1.33.0", "--set", values);
    expect(status).not.toBe(0);
    expect(stderr).toContain("values don't meet the specifications of the schema");
  });
});
