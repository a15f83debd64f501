import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withWholeTexts } from "./map-texts.ts";

test("the texts of files as they are take the place of those without documentation", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tenon-map-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.ts"), "/** A */ a;\n");
  writeFileSync(join(folder, "changed.ts"), "/** B */ bb;\n");
  const map = {
    version: 3,
    sources: ["../../a.ts", "../../changed.ts", "../../none.ts", "../../node_modules/a.js", "../../tenon-entry"],
    sourcesContent: ["         a;\n", "         b;\n", "c;\n", "d;\n", null],
    mappings: "",
  };
  expect(JSON.parse(await withWholeTexts(JSON.stringify(map), folder))).toEqual({
    ...map,
    sourcesContent: ["/** A */ a;\n", "         b;\n", "c;\n", "d;\n", null],
  });
});
