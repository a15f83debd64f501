import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { availableSecrets, resolveSecrets, withEnvironmentFile } from "./secrets.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-secrets-"));
  writeFileSync(join(folder, "key"), "line 1\nline 2\n");
  writeFileSync(join(folder, "windows"), "value\r\n");
  writeFileSync(join(folder, "empty"), "\n");
  writeFileSync(join(folder, "large"), "x".repeat(64 * 1024 + 1));
  writeFileSync(join(folder, "binary"), "a\0b");
});
afterAll(() => rmSync(folder, { recursive: true }));

test("come from variables and files", () => {
  const sources = { A: "env:KEY_A", B: "file:key", C: `file:${join(folder, "windows")}` };
  expect(resolveSecrets(sources, folder, { KEY_A: "a b" })).toEqual({ A: "a b", B: "line 1\nline 2", C: "value" });
  expect(resolveSecrets({}, folder, {})).toEqual({});
});

test("those that are not to be had are named, all of them, and no value is", () => {
  const sources = {
    unset: "env:UNSET",
    empty: "env:EMPTY",
    there: "env:THERE",
    missing: "file:missing",
    folder: "file:.",
    blank: "file:empty",
    large: "file:large",
    binary: "file:binary",
  };
  const make = () => resolveSecrets(sources, folder, { EMPTY: "", THERE: "canary" });
  expect(make).toThrow(
    [
      "secrets.unset: the environment variable UNSET is not set",
      "secrets.empty: the environment variable EMPTY is empty",
      `secrets.missing: cannot read ${join(folder, "missing")}: there is no such file or folder`,
    ].join("\n"),
  );
  expect(make).toThrow(/secrets\.folder: cannot read/);
  expect(make).toThrow(/secrets\.blank: .* is empty/);
  expect(make).toThrow(/secrets\.large: .* is larger than 65536 bytes/);
  expect(make).toThrow(/secrets\.binary: .* is not text/);
  expect(make).not.toThrow(/canary/);
});

test("in development .env adds variables, and those that are set win", () => {
  writeFileSync(join(folder, ".env"), 'A=file # comment\nB="two\nlines"\n\nexport C=c\n');
  expect(withEnvironmentFile(folder, { A: "set" })).toEqual({ A: "set", B: "two\nlines", C: "c" });
  rmSync(join(folder, ".env"));
  expect(withEnvironmentFile(folder, { A: "set" })).toEqual({ A: "set" });
});

test.each([
  ["a byte order mark", "\ufeffA=1\nB=2\n"],
  ["line ends of Windows", "\ufeffA=1\r\nB=2\r\n"],
  ["UTF-16", Buffer.from("\ufeffA=1\r\nB=2\r\n", "utf16le")],
  ["export", "export A=1\n  export\tB=2\n"],
  ["a mark and export", "\ufeffexport A=1\nexport  B = '2' # c\n"],
  ["quotes", "A='1'\nB=\"2\""],
])(".env may have %s", (_, content) => {
  writeFileSync(join(folder, ".env"), content);
  expect(withEnvironmentFile(folder, {})).toEqual({ A: "1", B: "2" });
  rmSync(join(folder, ".env"));
});

test("a file's byte order mark is not part of the secret", () => {
  writeFileSync(join(folder, "marked"), "\ufeffvalue\r\n");
  expect(resolveSecrets({ A: "file:marked" }, folder, {})).toEqual({ A: "value" });
});

test("tenon.toml says where a secret is, and an error does not repeat what stands there instead", () => {
  const parse = (text: string) => parseConfig(`[project]\nname = "demo"\n[secrets]\n${text}`, "tenon.toml", {});
  expect(parse('JWT_KEY = "env:JWT"\nOTHER = "file:/run/secrets/other"').secrets).toEqual({
    JWT_KEY: "env:JWT",
    OTHER: "file:/run/secrets/other",
  });
  for (const text of ['KEY = "canary"', 'KEY = "env:"', 'KEY = "env:a b"', 'KEY = "file:"', '"a-b" = "env:A"']) {
    expect(() => parse(text), text).toThrow(/tenon\.toml:4/);
    expect(() => parse(text), text).not.toThrow(/canary/);
  }
});

test("an error in the TOML itself shows no line that may hold a secret", () => {
  const parse = (text: string) => parseConfig(`[project]\nname = "demo"\n${text}`, "tenon.toml", {});
  for (const text of [
    "[secrets]\nKEY = canary-text",
    '[secrets]\nKEY = "canary-text',
    '[secrets]\nKEY "canary-text"',
    '[secrets]\nKEY = "env:A" canary-text',
    '[secrets]\nKEY = "canary-text\\q"',
    '[secrets]\nKEY = """canary-text\n[server]\nport = 1\n',
    "[secrets]\nKEY = 'canary-text\n\n# end\n",
    '[secrets]\nA = "env:A"\nKEY = canary-text\n[server]\nport = 3000\n',
    '["secrets"]\nKEY = canary-text',
    "secrets.KEY = canary-text",
    'secrets = { KEY = "canary-text" ',
    "[env]\nKEY = canary-text",
    "[secret]\nKEY = 1\n[secrets]\nKEY = canary-text",
  ]) {
    expect(() => parse(text), text).toThrow(/tenon\.toml:\d+:\d+: /);
    expect(() => parse(text), text).not.toThrow(/canary|-text/);
  }
  // Elsewhere the line is shown.
  expect(() => parse('[secrets]\nA = "env:A"\n[server]\nport = = 1')).toThrow(/4 \| |6 \| port = = 1/);
});

test("a secret in the wrong section is not repeated", () => {
  const parse = (text: string) => parseConfig(`[project]\nname = "demo"\n${text}`, "tenon.toml", {});
  for (const text of [
    'secret = { KEY = "canary" }',
    "secret = { KEY = 'canary' }",
    'secret.KEY = "canary"',
    '[server]\nJWT_KEY = "canary"',
    '[server]\nJWT_KEY = "a\\"canary"',
    'secrets = "canary"',
    'JWT_KEY = "canary"',
  ]) {
    expect(() => parse(text), text).toThrow(/tenon\.toml:\d+:\d+: /);
    expect(() => parse(text), text).not.toThrow(/canary/);
  }
  expect(() => parse("[server]\nprot = 3000")).toThrow(/4 \| prot = 3000/);
});

test("one that is not set has its line in tenon.toml, and a hint at .env", () => {
  const own = mkdtempSync(join(tmpdir(), "tenon-secrets-"));
  writeFileSync(join(own, "tenon.toml"), '[project]\nname = "a"\n[secrets]\nKEY = "env:A_KEY"\n');
  const missing = (environment: Record<string, string>) => {
    try {
      return resolveSecrets({ KEY: "env:A_KEY" }, own, environment);
    } catch (error) {
      return error;
    }
  };
  expect(missing({})).toMatchObject({
    message: expect.stringMatching(/tenon\.toml:4: secrets\.KEY: the environment variable A_KEY is not set$/),
    hint: "set A_KEY in the environment, or for `tenon dev` in the file .env beside tenon.toml",
  });
  writeFileSync(join(own, ".env"), "A_KEY=canary\n");
  expect(missing({})).toMatchObject({
    hint: ".env is for `tenon dev`: set A_KEY in the environment, such as with `set -a; . ./.env; set +a`",
  });
  expect(missing(withEnvironmentFile(own, {}) as Record<string, string>)).toEqual({ KEY: "canary" });
  expect(availableSecrets({ KEY: "env:A_KEY", B: "env:B" }, own, { B: "b" })).toMatchObject({ values: { B: "b" } });
  rmSync(own, { recursive: true });
});
