import { expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { maskProblem } from "./masks.ts";

test("a mask is the name of a header, a JSON pointer or a query parameter", () => {
  expect(maskProblem(["authorization", "X-Key", "#/card/number", "#/a~1b/*", "#/", "?token", "?a[b]"])).toBeUndefined();
  for (const wrong of ["", "a b", "#", "#card", "#/a~2", "x: y", "?", "?a=b"]) {
    expect(maskProblem(["ok", wrong])).toContain("has as entry 2 one that is neither");
  }
});

test("nothing is recorded without a folder, and a folder records failures", () => {
  const project = '[project]\nname = "app"\n';
  expect(parseConfig(project, "tenon.toml").record).toEqual({
    share: 0,
    failures: true,
    maxBytes: 1_073_741_824,
    mask: [],
  });
  const record = '[record]\nfolder = "recordings"\nshare = 0.01\nslow_ms = 500\nmask = ["x-key", "#/card"]\n';
  expect(parseConfig(project + record, "tenon.toml").record).toEqual({
    folder: "recordings",
    share: 0.01,
    failures: true,
    slowMs: 500,
    maxBytes: 1_073_741_824,
    mask: ["x-key", "#/card"],
  });
  const wrong = '[record]\nfolder = ""\nshare = 1.5\nheader = "a b"\nmask = ["#card"]\n';
  expect(() => parseConfig(project + wrong, "tenon.toml")).toThrow(
    /`record.folder` must not be empty[\s\S]*`record.share` must be a number from 0 to 1[\s\S]*`record.header` must be the name[\s\S]*`record.mask` has an entry that is neither/,
  );
  const environment = { TENON_RECORD_FOLDER: "/var/tapes", TENON_RECORD_SHARE: "0.5", TENON_RECORD_MASK: "x-key, #/a" };
  expect(parseConfig(project, "tenon.toml", environment).record).toMatchObject({
    folder: "/var/tapes",
    share: 0.5,
    mask: ["x-key", "#/a"],
  });
});
