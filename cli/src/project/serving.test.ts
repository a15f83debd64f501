import { expect, test } from "vitest";
import { Runtime } from "../embed/runtime.ts";
import { outboundProblem } from "./config/addresses.ts";
import { parseConfig } from "./config.ts";
import { lacksRecordFolder, servingOptions } from "./serving.ts";

const parse = (text: string) => parseConfig(`[project]\nname = "demo"\n${text}`, "tenon.toml", {});

test("the runtime is told what tenon.toml says", () => {
  const config = parse(`
[server]
isolation = "shared"
access_log = true
log_format = "json"
max_queued = 7
otlp_endpoint = "http://127.0.0.1:4318"
tls_certificate = "tls/cert.pem"
tls_key = "/etc/key.pem"
[outbound]
allow = ["api.example.com", "https://10.0.0.5:8443"]
[sidecars]
db = "unix:///run/db.sock"
[env]
GREETING = "hi"
`);
  const options = servingOptions(config, "/project");
  expect(options).toMatchObject({
    isolation: "shared",
    accessLog: true,
    logFormat: "json",
    maxQueued: 7,
    otlpEndpoint: "http://127.0.0.1:4318",
    tls: { certificate: "/project/tls/cert.pem", key: "/etc/key.pem" },
    outboundAllow: ["api.example.com", "https://10.0.0.5:8443"],
    sidecars: { db: "unix:///run/db.sock" },
    env: { GREETING: "hi" },
  });
  expect(options).not.toHaveProperty("port");
});

test("a certificate without its key is refused", () => {
  expect(() => servingOptions(parse('[server]\ntls_key = "key.pem"\n'), "/")).toThrow("belong together");
});

test.each([
  "host",
  "host:80",
  "http://host",
  "https://a.b.c:8443",
  "[::1]:9",
  "10.0.0.1",
  "*.host",
  "ftp://host",
  "host/path",
  "me@host",
  "host:0",
  "host:70000",
  "",
  "a b",
])("tenon.toml and the runtime agree on the outbound host %j", async (host) => {
  const create = Runtime.create({ modules: [], outboundAllow: [host], maxConcurrent: 4, cacheFolder: false });
  if (outboundProblem([host]) === undefined) await create;
  else await expect(create).rejects.toMatchObject({ code: "CONFIG" });
});

test("a table of recordings without a folder is found", () => {
  const lacks = (lines: string) => lacksRecordFolder(parse(`[record]\n${lines}\n`));
  for (const line of ["share = 0.01", "slow_ms = 500", 'header = "x-record"', 'mask = ["x-key"]'])
    expect([lacks(line), lacks(`${line}\nfolder = "recordings"`)], line).toEqual([true, false]);
  expect([lacksRecordFolder(parse("")), lacks("share = 0")]).toEqual([false, false]);
});
