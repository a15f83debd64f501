import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { generated } from "./generated.ts";
import { variableOf } from "./key.ts";
import { sections } from "./keys.ts";

const files = generated();

test.each(Object.keys(files))("%s is current: `npm run generate -w tenon` writes it", async (file) => {
  expect(await readFile(new URL(`../../../../${file}`, import.meta.url), "utf8")).toBe(files[file]);
});

test("the reference has every key, its variable and its default", () => {
  const reference = files["docs/configuration.md"];
  for (const [name, section] of Object.entries(sections)) {
    if ("each" in section) {
      expect(reference).toContain(`## \`[${name}.<${section.names.placeholder}>]\``);
      for (const key of Object.keys(section.each)) expect(reference).toContain(`### \`${key}\``);
      continue;
    }
    expect(reference).toContain(`## \`[${name}]\``);
    if (!("keys" in section)) continue;
    for (const key of Object.keys(section.keys)) {
      expect(reference).toContain(`### \`${key}\``);
      expect(reference).toContain(`\`${variableOf(name, key)}\``);
    }
  }
});
