import * as fc from "fast-check";
import { expect, test } from "vitest";
import { unicodeVersion } from "./normalization-tables.ts";

// The engine's own method, before its replacement.
const { normalize: native } = String.prototype;
const { normalize } = await import("./normalize.ts");
String.prototype.normalize = native;

const forms = ["NFC", "NFD", "NFKC", "NFKD"] as const;
const isComparable = Number(process.versions["unicode"]) <= Number(unicodeVersion);

test.runIf(isComparable)(
  "every character is normalized as Node does it",
  () => {
    const different: string[] = [];
    for (let code = 0; code < 0x110000; code++) {
      const char = String.fromCodePoint(code);
      // This Node does not have the newest characters.
      if (/\p{Cn}/u.test(char)) continue;
      for (const form of forms)
        for (const text of /\p{M}/u.test(char) ? [char, `a${char}\u0323`, `\u0301${char}`] : [char])
          if (normalize.call(text, form) !== native.call(text, form)) different.push(`${form} ${code.toString(16)}`);
    }
    expect(different.slice(0, 20)).toEqual([]);
  },
  120_000,
);

test("texts of marks, letters and syllables", () => {
  const ranges = [
    "aeioůÅ\u0041",
    "\u0300\u0301\u0308\u0323\u0327\u0328\u0345\u05b0\u3099",
    "\u1100\u1161\u11a8가각\uac00",
    "ﬁ①㍿ｱﾞ\u1e9b\u0958\u2adc",
  ];
  const chars = fc.constantFrom(...ranges.join(""));
  fc.assert(
    fc.property(fc.array(chars, { maxLength: 12 }), fc.constantFrom(...forms), (parts, form) => {
      const text = parts.join("");
      expect(normalize.call(text, form)).toBe(native.call(text, form));
    }),
    { numRuns: 2000 },
  );
});

test("other forms are refused", () => {
  expect(normalize.call("é")).toBe("é");
  expect(() => normalize.call("é", "nfc")).toThrow(RangeError);
});
