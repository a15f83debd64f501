import { expect, test } from "vitest";
import { textOf } from "./text-file.ts";

const utf16 = (text: string) => Buffer.from(text, "utf16le");

test.each([
  ["no mark", Buffer.from("a=é")],
  ["UTF-8", Buffer.from("\ufeffa=é")],
  ["UTF-16, as Windows PowerShell writes it", utf16("\ufeffa=é")],
  ["UTF-16, the other way round", utf16("\ufeffa=é").swap16()],
])("%s", (_, bytes) => {
  expect(textOf(bytes)).toBe("a=é");
});

test("only the first mark is one", () => {
  expect(textOf(Buffer.from("\ufeff\ufeffa"))).toBe("\ufeffa");
  expect(textOf(Buffer.from(""))).toBe("");
});
