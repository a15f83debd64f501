import { expect, test } from "vitest";
import { parseConfig } from "../project/config.ts";
import { serverConfiguration } from "./server-folder.ts";

const written = (toml: string, modules: readonly string[], extension = "wasm") => {
  const files = new Map(modules.map((name) => [name, `dist/${name}.${extension}`]));
  return JSON.parse(
    JSON.stringify(serverConfiguration(parseConfig(`[project]\nname = "app"\n${toml}`, "tenon.toml"), files)),
  );
};

test("compiled code keeps its extension, and the operator's trust", () => {
  expect(written("[server]\ntrust_compiled = true", ["app"], "cwasm")).toMatchObject({
    trustCompiled: true,
    modules: { app: { source: "app.cwasm" } },
  });
});

test("references stay references, and limits have their names in tenon.toml", () => {
  const config = written(
    `[server]
host = "0.0.0.0"
metrics_address = "127.0.0.1:9000"
max_concurrent = 7
[secrets]
KEY = "env:APP_KEY"
[sidecars]
db = { run = "sql", url = "env:DATABASE_URL", read_only = true }
[modules.shop]
source = "oci://registry.example/team/shop:1.0"
max_concurrent = 2
secrets = { JWT = "file:/run/secrets/jwt" }
outbound = { allow = ["api.example"] }
`,
    ["app", "shop"],
  );
  expect(config).toMatchObject({
    version: 1,
    host: "0.0.0.0",
    metricsAddress: "127.0.0.1:9000",
    limits: { max_concurrent: 7 },
    secrets: { KEY: "env:APP_KEY" },
    sidecars: { db: { run: "sql", url: "env:DATABASE_URL", readOnly: true } },
  });
  expect(config.modules).toEqual({
    app: { source: "app.wasm" },
    shop: {
      source: "shop.wasm",
      secrets: { JWT: "file:/run/secrets/jwt" },
      outbound: { allow: ["api.example"] },
      limits: { max_concurrent: 2 },
    },
  });
});

test("a certificate without its key is refused", () => {
  expect(() => written('[server]\ntls_certificate = "cert.pem"\n', [])).toThrow("one of them is missing");
});
