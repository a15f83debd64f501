import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { engineFunctionsIn } from "./engine-module.ts";
import { platformFolder } from "./guest-folders.ts";
import { platformModules, platformModulesIn } from "./platform.ts";

describe("platformModulesIn", () => {
  test.each([
    ["new TextEncoder().encode('a')", ["encoding/install-encoder"]],
    ["var platform = globalThis; var a = new platform.TextEncoder()", ["encoding/install-encoder"]],
    [
      "var platform; function encode() { return new platform.TextEncoder(); } platform = globalThis;",
      ["encoding/install-encoder"],
    ],
    [
      "var p; function f() { return new p.TextEncoder() } function g() { p = globalThis }",
      ["encoding/install-encoder"],
    ],
    ["var E; (({ TextEncoder: E } = globalThis))", ["encoding/install-encoder"]],
    ["console.log('a', 1)", ["console/install"]],
    ["var scope = globalThis; scope.console.log('a')", []],
    ["crypto.getRandomValues(bytes)", ["crypto/install"]],
    ["other.TextEncoder", []],
    ["// TextEncoder\nconst text = 'TextEncoder'", []],
    ["new TextDecoder()", ["encoding/install-utf8"]],
    ["new TextDecoder", ["encoding/install-utf8"]],
    [
      "var p = globalThis; new p.TextDecoder('utf-8', { fatal: true }); new TextDecoder(\"UTF8\")",
      ["encoding/install-utf8"],
    ],
    ["typeof TextDecoder === 'undefined'", ["encoding/install-utf8"]],
    ["new TextDecoder('latin1')", ["encoding/install-all"]],
    ["new TextDecoder(label)", ["encoding/install-all"]],
    ["const Decoder = TextDecoder", ["encoding/install-all"]],
  ])("%s", (code, modules) => expect(platformModulesIn("bundle.js", code)).toEqual(modules));
});

test("each module is there", () => {
  for (const module of platformModules) expect(existsSync(join(platformFolder, `${module}.js`)), module).toBe(true);
});

test("the functions that a bundle imports from the engine", () => {
  const code = `import { print as p, now } from "tenon:engine"; import "tenon:engine"; import { print } from "tenon:engine";
import { other } from "wasi:cli/environment@0.2.10"; p(now());`;
  expect(engineFunctionsIn("bundle.js", code)).toEqual(["now", "print"]);
  expect(engineFunctionsIn("bundle.js", "export const a = 1;")).toEqual([]);
});
