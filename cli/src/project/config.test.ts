import { describe, expect, test } from "vitest";
import { parseConfig } from "./config.ts";

const parse = (text: string) => parseConfig(text, "tenon.toml");
const minimal = '[project]\nname = "demo"\n';

describe("parseConfig", () => {
  test("fills in what is left out", () => {
    expect(parse(minimal)).toEqual({
      project: { name: "demo", version: "0.0.0" },
      server: { host: "127.0.0.1", port: 3000 },
      composition: { httpHandler: true },
      sidecars: {},
      env: {},
    });
  });

  test("reads every key", () => {
    const config = parse(`${minimal}version = "1.2.3"
[server]
host = "0.0.0.0"
port = 0
request_timeout_ms = 5000
max_body_bytes = 1024
memory_limit_bytes = 268435456
max_concurrent = 7
shutdown_timeout_ms = 0
isolation = "request"
max_reuse = 1000
[outbound]
allow = []
[composition]
http_handler = false
bridge = "my-bridge.wasm"
[sidecars]
db = "unix:///run/db.sock"
[env]
GREETING = "hi"
`);
    expect(config).toEqual({
      project: { name: "demo", version: "1.2.3" },
      server: {
        host: "0.0.0.0",
        port: 0,
        requestTimeoutMs: 5000,
        maxBodyBytes: 1024,
        memoryLimitBytes: 268_435_456,
        maxConcurrent: 7,
        shutdownTimeoutMs: 0,
      },
      composition: { httpHandler: false, bridge: "my-bridge.wasm" },
      sidecars: { db: "unix:///run/db.sock" },
      env: { GREETING: "hi" },
    });
  });

  test.each([
    ["", "tenon.toml: project.name is missing: it must be a text"],
    ["[project]\nname = 3\n", "tenon.toml: project.name must be a text"],
    ["project = 3\n", "tenon.toml: project must be a table, [project]"],
    [`${minimal}[server]\nport = 65536\n`, "tenon.toml: server.port must be a whole number from 0 to 65535"],
    [`${minimal}[server]\nport = "3000"\n`, "tenon.toml: server.port must be a whole number from 0 to 65535"],
    [`${minimal}[server]\nprot = 1\n`, "tenon.toml: unknown key server.prot"],
    [`${minimal}[servers]\n`, "tenon.toml: unknown key servers"],
    [`${minimal}[outbound]\nalow = []\n`, "tenon.toml: unknown key outbound.alow"],
    [
      `${minimal}[outbound]\nallow = ["api.example.com"]\n`,
      "tenon.toml: outbound.allow must be an empty list: this version lets modules call sidecars only",
    ],
    [
      `${minimal}[server]\nisolation = "shared"\n`,
      'tenon.toml: server.isolation must be "request": this version serves every request in an instance of its own',
    ],
    [`${minimal}[sidecars]\ndb = 5\n`, "tenon.toml: sidecars.db must be a text"],
    [`${minimal}[composition]\nhttp_handler = "yes"\n`, "tenon.toml: composition.http_handler must be true or false"],
  ])("%j is refused", (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: "CONFIG", message }));
  });

  test("a mistake in the TOML itself is named by line and column", () => {
    expect(() => parse('[project]\nname = "demo\n')).toThrow(/^tenon\.toml:2:\d+: /);
  });
});
