import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

const project = '[project]\nname = "demo"\n';

test.each([
  ["a table of TOML", '{ run = "sql", url = "env:DATABASE_URL", pool_size = 3 }'],
  ["an object of JSON", '{"run":"sql","url":"env:DATABASE_URL","pool_size":3}'],
])("TENON_SIDECARS_DB may be %s", (_, text) => {
  expect(parseConfig(project, "tenon.toml", { TENON_SIDECARS_DB: text }).sidecars).toEqual({
    db: { run: "sql", url: "env:DATABASE_URL", poolSize: 3 },
  });
});

test.each(['{ run = "sql" }', "{ run = ", '{ run = "sql", url = "postgres://u:secret@h" }', "{}"])(
  "a wrong table is refused, and not repeated: %s",
  (text) => {
    const parse = () => parseConfig(project, "tenon.toml", { TENON_SIDECARS_DB: text });
    expect(parse).toThrow("the environment variable TENON_SIDECARS_DB ");
    expect(parse).not.toThrow("secret");
  },
);

test.each([
  ["postgres://localhost/app", "sql"],
  ["sqlite:app.db", "sql"],
  ["redis://localhost", "kv"],
  ["s3://bucket", "storage"],
])("the address %s gets a hint", (address, kind) => {
  expect(() => parseConfig(`${project}[sidecars]\ndb = "${address}"\n`, "tenon.toml", {})).toThrow(
    `must be http://host:port or unix:///path/to.sock; for this store itself write { run = "${kind}", url = "env:NAME" }`,
  );
});
