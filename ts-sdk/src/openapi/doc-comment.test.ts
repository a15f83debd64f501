import { expect, it } from "vitest";
import { parseDocComment } from "./doc-comment.ts";

it.each([
  ["* One line. ", { summary: "One line." }],
  ["*\n   * Two lines\n   * of one paragraph.\n   ", { summary: "Two lines of one paragraph." }],
  [
    "*\n * First.\n *\n * Second\n * line.\n *\n * - item\n *   deeper\n ",
    { summary: "First.", description: "Second\nline.\n\n- item\n  deeper" },
  ],
  ["*\r\n * Windows.\r\n *\r\n * Lines.\r\n ", { summary: "Windows.", description: "Lines." }],
  [
    "* See {@link User} and {@link User|a user} and {@link User a user}.",
    { summary: "See User and a user and a user." },
  ],
  ["*\n * Text.\n * @param x not part of it\n *\n * nor this\n ", { summary: "Text." }],
  [
    "*\n * Text.\n *\n * ```ts\n * @decorated\n * class A {}\n * ```\n *\n * More.\n * @returns\n * ```\n ",
    { summary: "Text.", description: "```ts\n@decorated\nclass A {}\n```\n\nMore." },
  ],
  [
    "*\n * Text.\n *\n * ~~~~\n * ```\n * ~~~\n * @a\n * ~~~~ @b\n * ~~~~\n * @c\n ",
    { summary: "Text.", description: "~~~~\n```\n~~~\n@a\n~~~~ @b\n~~~~" },
  ],
  ["*\n * Text.\n *\n * ```not a fence```\n * @c\n ", { summary: "Text.", description: "```not a fence```" }],
  ["* Two asterisks. *", { summary: "Two asterisks." }],
  ["*\n * Text.\n *\n * 2 **\n *", { summary: "Text.", description: "2 **" }],
  ["*\n    Text.\n\n    - item\n      deeper\n  ", { summary: "Text.", description: "- item\n  deeper" }],
  ["** Three asterisks. ", { summary: "Three asterisks." }],
  ["* **Bold** words. ", { summary: "**Bold** words." }],
  ["*\n    **Bold** words.\n  ", { summary: "**Bold** words." }],
  ["*\n  * Text.\n\n    Without.\n", { summary: "Text.", description: "Without." }],
  ["* Mail a@b.example. ", { summary: "Mail a@b.example." }],
  ["* @internal ", undefined],
  ["* ", undefined],
  ["*", undefined],
])("%j", (comment, expected) => expect(parseDocComment(comment)).toEqual(expected));

it("reads tags and the deprecation", () => {
  expect(parseDocComment("* Old.\n * @tag Orders\n * @deprecated since 2\n * @tag More words ")).toEqual({
    summary: "Old.",
    tags: ["Orders", "More words"],
    deprecated: true,
  });
  expect(parseDocComment("* Old. @tag Orders @deprecated since 2 @tag More words ")).toEqual({
    summary: "Old.",
    tags: ["Orders", "More words"],
    deprecated: true,
  });
  expect(parseDocComment("* Mail `@tag`s to @tenon.\n * @example f() // Old. @deprecated\n ")).toEqual({
    summary: "Mail `@tag`s to @tenon.",
  });
  expect(parseDocComment("* @deprecated ")).toEqual({ summary: "", deprecated: true });
  expect(parseDocComment("* @example x ")).toBeUndefined();
});
