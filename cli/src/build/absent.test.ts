import { describe, expect, test } from "vitest";
import { absentUses } from "./absent.ts";

const textsOf = (source: string, file = "module.ts") => absentUses(file, source).map(({ text }) => text);

describe("a use of what the engine lacks is found", () => {
  test.each([
    ["new Intl.NumberFormat('de')", "the engine has no Intl"],
    ["const format = (n: number) => Intl.NumberFormat().format(n);", "the engine has no Intl"],
    ["const { DateTimeFormat } = Intl;", "the engine has no Intl"],
    ["export const now = () => Temporal.Now.instant();", "the engine has no Temporal"],
    ["await WebAssembly.instantiate(bytes);", "the engine has no WebAssembly"],
    ["new WebSocket('wss://a.example')", "the engine has no WebSocket"],
    ["await caches.open('a')", "the engine has no caches"],
    ["const all = { caches };", "the engine has no caches"],
    ["date.toLocaleDateString('de-DE')", "the engine knows no locales, so toLocaleDateString() ignores this one"],
    [
      "price.toLocaleString(locale, { style: 'currency' })",
      "the engine knows no locales, so toLocaleString() ignores this one",
    ],
    [
      "names.sort((a, b) => a.localeCompare(b, 'sv'))",
      "the engine knows no locales, so localeCompare() ignores this one",
    ],
    ["'i'.toLocaleUpperCase('tr')", "the engine knows no locales, so toLocaleUpperCase() ignores this one"],
    ["x as Intl.NumberFormat; new (Intl as any).NumberFormat()", "the engine has no Intl"],
  ])("%s", (source, text) => expect(textsOf(source)).toEqual([text]));
});

describe("other uses are left alone", () => {
  test.each([
    "if (typeof Intl !== 'undefined') use(Intl.NumberFormat);",
    "const format = typeof Intl === 'object' ? new Intl.NumberFormat() : undefined;",
    "const fast = globalThis.WebAssembly && WebAssembly.instantiate(bytes);",
    "if ('caches' in globalThis) await caches.open('a');",
    "let memory; try { memory = new WebAssembly.Memory({}); } catch {}",
    "import { Temporal } from 'temporal-polyfill'; Temporal.Now.instant();",
    "class Worker {} new Worker();",
    "function f(caches: string[]) { return caches.length; }",
    "const options: Intl.NumberFormatOptions = {};",
    "type A = Intl.DateTimeFormat; interface B extends WebSocket {}",
    "const caches = new Map(); caches.get('a');",
    "api.caches.open(); ({ Worker: 1 }); a.Intl = 1;",
    "await crypto.subtle.encrypt(algorithm, key, data)",
    "await cipher.encrypt(data)",
    "date.toLocaleString(); date.toLocaleDateString(undefined);",
    "'i'.toLocaleUpperCase('en'); 'I'.toLocaleLowerCase('de-CH');",
    "// Intl\nconst text = 'new Intl.NumberFormat()';",
  ])("%s", (source) => expect(textsOf(source)).toEqual([]));
});

test("localeCompare() without a locale is a warning", () => {
  const uses = absentUses("module.ts", "names.sort((a, b) => a.localeCompare(b)); a.localeCompare(b, undefined);");
  expect(uses.map(({ text, isWarning }) => [text, isWarning])).toEqual(
    Array(2).fill(['localeCompare() compares the numbers of characters here, so that "Z" comes before "a"', true]),
  );
});

test("the place is that of the name", () => {
  const [use] = absentUses("module.ts", "const a = 1;\nconst b = 'ö' + new Intl.NumberFormat();\n");
  expect(use).toMatchObject({
    line: 2,
    column: Buffer.byteLength("const b = 'ö' + new "),
    length: 4,
    lineText: "const b = 'ö' + new Intl.NumberFormat();",
    remedy: 'name the locales in tenon.toml: `locales = ["en"]` under `[project]`',
  });
});
