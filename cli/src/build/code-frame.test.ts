/** Lines of code with a mark, as errors of builds and of `tenon.toml` show them. */
import { expect, test } from "vitest";
import { codeFrame } from "./code-frame.ts";

test("the mark is below its place, and no longer than the line", () => {
  expect(codeFrame("let x = ;", 12, 9)).toBe("  12 | let x = ;\n     |         ^");
  expect(codeFrame("[sever]", 3, 2, 5)).toBe("  3 | [sever]\n    |  ^^^^^");
  expect(codeFrame("[a", 1, 3, 9)).toBe("  1 | [a\n    |   ^");
});

test("tabs before the place are kept", () => {
  expect(codeFrame("\tif\t(", 1, 5)).toBe("  1 | \tif\t(\n    | \t  \t^");
});

test("controls are pictures, which no terminal obeys", () => {
  expect(codeFrame("\x1b]0;a\x07\x9b\u202eb", 1, 1)).toBe("  1 | ␛]0;a␇\ufffd\ufffdb\n    | ^");
});

test("a long line is cut around the place", () => {
  const [shown = "", marked = ""] = codeFrame(`${"a".repeat(5000)}!${"b".repeat(5000)}`, 1, 5001).split("\n");
  expect(shown).toBe(`  1 | …${"a".repeat(100)}!${"b".repeat(99)}…`);
  expect(marked.indexOf("^")).toBe(shown.indexOf("!"));
  const [end = "", mark = ""] = codeFrame(`${"a".repeat(500)}!`, 1, 501).split("\n");
  expect([end.at(-1), mark.indexOf("^")]).toEqual(["!", end.indexOf("!")]);
});
