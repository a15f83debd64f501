/** An editor's reports about a tenon.toml by its JSON Schema match the parser's. */
import { readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { readToml, type TomlEntries } from "./toml.ts";

const published = JSON.parse(await readFile(new URL("../../../tenon.schema.json", import.meta.url), "utf8"));
const fits = new Ajv({ strict: true, allErrors: true }).compile(published);

const minimal = '[project]\nname = "demo"\n';
const server = (line: string) => `${minimal}[server]\n${line}\n`;
const sidecar = (line: string) => `${minimal}[sidecars]\n${line}\n`;
const allow = (list: string) => `${minimal}[outbound]\nallow = ${list}\n`;
const module = (line: string) => `${minimal}[modules.shop]\n${line}\n`;
const named = (name: string) => `[project]\nname = ${JSON.stringify(name)}\n`;

const valid = [
  minimal,
  `${minimal}version = "1.0.0"\n`,
  ...["a", "my.app_2-x", "9lives", "a".repeat(214)].map(named),
  ...["port = 0", "port = 65535", 'host = "::1"', 'isolation = "shared"', "access_log = true"].map(server),
  ...['log_format = "json"', "request_timeout_ms = 1000", "max_body_bytes = 1024", 'tls_key = "k.pem"'].map(server),
  `${minimal}[composition]\nhttp_handler = false\nbridge = "b.wasm"\n`,
  ...["http://db", "http://db:1", "http://db:00080", "http://[::1]:65535/", "unix:///run/db.sock", "unix:///a b"].map(
    (address) => sidecar(`db = "${address}"`),
  ),
  sidecar('my-db_2 = "http://db"'),
  ...["[]", '["api.example", "api.example:8443", "https://api.example", "[::1]:80"]'].map(allow),
  `${minimal}[env]\nA = ""\n"with space" = "x"\n`,
  ...['mount = "/"', 'mount = "/a/b.c"', 'mount = "/runs"', 'host = "Shop.example"', 'host = "[::1]"'].map(module),
  ...['source = "a.wasm"', "max_concurrent = 1", "request_timeout_ms = 5", 'isolation = "shared"', ""].map(module),
  ...["env = {}", 'secrets = { A = "env:A" }', 'sidecars = { db = "http://db" }', "outbound = { allow = [] }"].map(
    module,
  ),
];

const invalid = [
  "",
  "[project]\n",
  "[project]\nname = 3\n",
  ...["", "../up", "-a", "Upper", "a b", "x-composed", "x.wasm", "node_modules", "a".repeat(215)].map(named),
  `${minimal}verison = "1"\n`,
  `${minimal}version = 1\n`,
  "project = 3\n",
  `${minimal}[servers]\n`,
  ...["port = -1", "port = 65536", "port = 80.5", 'port = "80"', 'host = ""', 'isolation = "none"', "zzz = 1"].map(
    server,
  ),
  ...['access_log = "yes"', 'log_format = "xml"', "max_body_bytes = -1", "max_concurrent = 0"].map(server),
  `${minimal}[composition]\nhttp_handler = "yes"\n`,
  ...["https://db", "db:5432", "http://db:0", "http://db:00", "http://db:65536", "http://u:p@db", "http://db/x"].map(
    (address) => sidecar(`db = "${address}"`),
  ),
  ...["unix://run/db.sock", "unix:///", "http://d b", "http://"].map((address) => sidecar(`db = "${address}"`)),
  ...['1db = "http://db"', '"a b" = "http://db"', "db = 5"].map(sidecar),
  ...['"api.example"', '["*.example"]', '["api.example/path"]', '["a:0"]', '["a:99999"]', "[1]"].map(allow),
  `${minimal}[env]\nA = 1\n`,
  `${minimal}[env]\n"A=B" = "x"\n`,
  `${minimal}[env.A]\nb = "c"\n`,
  ...['mount = ""', 'mount = "a"', 'mount = "/a/"', 'mount = "/a/../b"', 'mount = "/run/a"', 'host = "a:80"'].map(
    module,
  ),
  ...['host = "a..b"', "max_queued = 1", "max_concurrent = 0", "env = 3", "env = { A = 1 }", 'source = ""'].map(module),
  ...['secrets = { A = "b" }', 'sidecars = { db = "db" }', 'outbound = { allow = "a" }', "zzz = 1"].map(module),
  `${minimal}[modules]\nshop = "shop.wasm"\n`,
  `${minimal}[modules."a b"]\n`,
];

test.each(valid)("fits: %j", (text) => {
  expect(parseConfig(text, "tenon.toml").project.name).not.toBe("");
  expect([fits(plain(readToml(text))), fits.errors]).toEqual([true, null]);
});

test.each(invalid)("does not fit: %j", (text) => {
  expect(() => parseConfig(text, "tenon.toml")).toThrow("tenon.toml:");
  expect(fits(plain(readToml(text)))).toBe(false);
});

function plain(entries: TomlEntries): object {
  return Object.fromEntries(
    [...entries].map(([key, entry]) => [key, entry.entries === undefined ? entry.value : plain(entry.entries)]),
  );
}
