import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const known = ["port", "host", "max_body_bytes", "isolation", "name", "version"];

test.each([
  ["prot", "port"], // neighbours swapped
  ["PORT", "port"],
  ["hosts", "host"],
  ["max_body_byte", "max_body_bytes"],
  ["maxbodybytes", "max_body_bytes"],
  ["isolaton", "isolation"],
  ["nam", "name"],
])("%s probably meant %s", (typed, meant) => {
  expect(nearest(typed, known)).toBe(meant);
});

test.each(["", "x", "xy", "database", "zzzz"])("%j is near nothing", (typed) => {
  expect(nearest(typed, known)).toBeUndefined();
});
