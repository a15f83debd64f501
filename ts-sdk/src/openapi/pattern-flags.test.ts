import { describe, expect, it } from "vitest";
import { withoutFlags } from "./pattern-flags.ts";

/** An expression with the flag v, which literals have from ES2024 on. */
const withSets = (source: string) => new RegExp(source, "v");

const texts = [
  ..."aAbBzZkKsSxXéÉßſK019_-. \n\r\u2028😀[]\\^$/",
  ...[
    "abc",
    "ABC",
    "aBc",
    "a\nb",
    "a\nB\nc",
    "x",
    "x\ny",
    "y\nx\n",
    "A1-b",
    "straße",
    "STRASSE",
    "ΣΣ",
    "σς",
    "Å",
    "å",
    "aa",
    "aA",
  ],
];

describe("withoutFlags", () => {
  it.each([
    [/^[a-z]+$/i, "^[A-Za-z]+$"],
    [/^abc$/i, "^[aA][bB][cC]$"],
    [/^[^a-c]$/i, "^[^A-Ca-c]$"],
    [/^\x41\u0062\.[\]A]$/i, "^[\\x41a][\\u0062B]\\.[a\\]A]$"],
    [/^[a-]$/i, "^[Aa-]$"],
    [/^[-a]$/i, "^[A\\-a]$"],
    [/^[^-a-c]$/i, "^[^A-C\\-a-c]$"],
    [/a.b/s, "a[\\s\\S]b"],
    [/[.]\./s, "[.]\\."],
    [/^x$/m, "(?:^|(?<=[\\n\\r\\u2028\\u2029]))x(?=$|[\\n\\r\\u2028\\u2029])"],
    [/[$^]\^\$/m, "[$^]\\^\\$"],
    [/a|b/y, "^(?:a|b)"],
    [/^\p{L}+$/u, "^\\p{L}+$"],
    [/a/dg, "a"],
    [/^k$/iu, "^[kK\\u212a]$"],
    [/^(?<name>a)(?:b)(?=c)(?<!d)c{1,2}\d\b$/i, "^(?<name>[aA])(?:[bB])(?=[cC])(?<![dD])[cC]{1,2}\\d\\b$"],
    [/^$/i, "^$"],
    [/\cA\//i, "\\cA\\/"],
  ])("%s", (regex, source) => {
    expect(withoutFlags(regex)).toBe(source);
  });

  it.each([
    /^[a-z]+$/i,
    /^[\w-]+$/i,
    /^é+$/i,
    /^[à-ý]$/iu,
    /^\w$/iu,
    /^ß|ſ$/iu,
    /a.b/s,
    /a.b/is,
    /^x$/m,
    /^B$/im,
    /^.*$/ms,
    /b/y,
    /\p{Lu}/iu,
    /^\p{Ll}+$/iu,
    /^[^\p{Lu}]$/u,
    /^σ+$/iu,
    /^Σ+$/i,
    /😀|A/iu,
    /^[A-Z😀]$/iu,
    /^[^a-zé]$/i,
    /^å$/i,
    /^\u{212b}$/iu,
    /^a\n?$/i,
    /^(a)(?:b|[c-e])*$/i,
    /[[]a/i,
    withSets("^[a-z]$"),
  ])("%s matches the same texts", (regex) => {
    const pattern = withoutFlags(regex);
    const read = new RegExp(pattern, regex.unicode || regex.flags.includes("v") ? "u" : "");
    for (const text of texts) {
      regex.lastIndex = 0;
      expect(read.test(text), `${pattern} with ${JSON.stringify(text)}`).toBe(regex.test(text));
    }
  });

  it.each([
    [/(a)\1/i, "refers to a group"],
    [/(?<n>a)\k<n>/i, "refers to a group"],
    [withSets("[[a-z]--[b]]"), "operations of the flag v"],
  ])("%s is refused", (regex, why) => {
    expect(() => withoutFlags(regex)).toThrow(why);
  });
});
