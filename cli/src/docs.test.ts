/** The documentation has every command and option, and its configuration is one that Tenon takes. */
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { commandTree, everyCommand } from "./completions/tree.ts";
import { createProgram } from "./program.ts";
import { parseConfig } from "./project/config.ts";

const folder = new URL("../../docs/", import.meta.url);
const ofSdk = (await readdir(new URL("sdk/", folder))).map((file) => `sdk/${file}`);
const files = [...(await readdir(folder)), ...ofSdk].filter((file) => file.endsWith(".md"));
const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), "utf8")));
const commands = everyCommand(commandTree(createProgram())).filter(({ path }) => path.length > 0 && path[0] !== "help");

test.each(commands.map((command) => [command.path.join(" "), command] as const))("tenon %s", (path, { options }) => {
  // cli.md documents the options of all commands.
  const told = files.flatMap((file, at) =>
    file === "cli.md" || texts[at]?.includes(`tenon ${path}`) ? [texts[at]] : [],
  );
  const text = told.join("\n");
  for (const flag of options.flatMap((option) => option.flags).filter((each) => each.startsWith("--"))) {
    if (flag !== "--help") expect(text, flag).toContain(flag);
  }
});

test("every tenon.toml in the documentation is one", () => {
  const blocks = texts.flatMap((text) => [...text.matchAll(/```toml\n([\s\S]*?)```/g)].map(([, block]) => block ?? ""));
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks)
    parseConfig(block.includes("[project]") ? block : `[project]\nname = "a"\n${block}`, "tenon.toml");
});
