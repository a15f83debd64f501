import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { withoutPropertyEscapes } from "./property-escapes.ts";

const wrapped = (source: string) => `globalThis.found = (() => {${source}})();\n`;

/** The result of a script's function. */
function evaluated(text: string): unknown {
  runInThisContext(text);
  return (globalThis as unknown as { found: unknown }).found;
}

const sample = "Añ ß Ж漢🎉_1 é\u{1d306}";

test.each([
  ["a literal", `return ${JSON.stringify(sample)}.match(/\\p{L}+/gu)`],
  ["a negated class", `return ${JSON.stringify(sample)}.match(/[^\\p{L}\\p{N}]+/gu)`],
  ["\\P", `return ${JSON.stringify(sample)}.match(/\\P{L}+/gu)`],
  ["a script", `return ${JSON.stringify(sample)}.match(/\\p{Script=Cyrillic}|\\p{sc=Han}/gu)`],
  ["the flag i", `return ["a", "A", "1"].map((each) => /^\\p{Lu}$/iu.test(each))`],
  ["the flag v", `return ["a", "b", "é"].map((each) => /^[\\p{Ll}--[a-c]]$/v.test(each))`],
  ["a name for a group", `return /(?<first>\\p{L})\\k<first>/u.exec("1aa").groups.first`],
  ["a text", `return new RegExp("^\\\\p{L}+$", "u").test("aé")`],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is the test's subject.
  ["a template", "const letter = '\\\\p{L}'; return new RegExp(`^${letter}+$`, 'u').test('aé')"],
  ["a sum", "const letter = '\\\\p{L}'; return RegExp('^' + letter + '+$', 'u').test('aé')"],
  ["String.raw", "return new RegExp(String.raw`^\\p{L}+$`, 'u').test('aé')"],
  ["the source of another", "const letter = /\\p{L}/u; return new RegExp(letter.source + '$', 'u').test('1é')"],
  ["a slash and a line's end", `return new RegExp("\\\\p{L}/[/]\\n", "u").test("a//\\n")`],
  ["after a keyword", `const f = () => { return/\\p{L}/u.test("é") }; return f()`],
  ["a new object each time", `const f = () => /\\p{L}/gu; return [f() === f(), f().test("a"), f().lastIndex]`],
])("%s", (_what, source) => {
  const { text } = withoutPropertyEscapes("module.js", wrapped(source));
  expect(text.replaceAll(/"\\\\p\{L\}"|'\\\\p\{L\}'/g, "")).not.toMatch(/\\p\{/i);
  expect(evaluated(text)).toEqual(evaluated(wrapped(source)));
});

test("everything else keeps its place", () => {
  const source = "const a = /\\p{L}+/u.test('x'), b = 1;\nconst c = new RegExp(\n  '\\\\p{L}',\n  'u',\n); c;\n";
  const { text, warnings } = withoutPropertyEscapes("module.js", source);
  expect(text.split("\n")[0]).toBe("const a =  $p0()   .test('x'), b = 1;");
  for (const part of [".test('x'), b", "const c", "; c;"]) expect(text.indexOf(part)).toBe(source.indexOf(part));
  expect(warnings).toEqual([]);
});

test("what is not constant is told of, and what means something else is left alone", () => {
  const source = "const part = '\\\\p{L}' + name;\nexport const make = () => new RegExp(part, 'u');\n";
  const { text, warnings } = withoutPropertyEscapes("src/module.ts", source);
  expect(text).toBe(source);
  expect(warnings).toEqual([
    "src/module.ts:1: a regular expression with \\p{…} whose text is not constant fails when it is made",
  ]);
  const letterP = "const p = /\\p{1}/;";
  expect(withoutPropertyEscapes("module.js", letterP).text).toBe(letterP);
});
