/** `tenon dev` builds anew after a change of any file that the build read or looked for, wherever it is. */
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { develop, developing, served } from "./develop.ts";
import { root } from "./servers.ts";

developing();

let folder: string;
afterAll(() => rm(folder, { recursive: true, force: true }));

test("files outside of the project, missing ones, and those that come back", async () => {
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  folder = await mkdtemp(join(root, "cli/e2e/.tenon/watch-"));
  const app = join(folder, "app");
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  const value = (name: string) => `export const value = ${JSON.stringify(name)};\n`;
  const manifest = (name: string, entry: string) => JSON.stringify({ name, type: "module", exports: entry });
  const handler = (imports: string) =>
    `${imports}\nimport { get, ok, routes } from "@tenon/sdk";\nexport default routes({ it: get("/", () => ok({ value })) });\n`;
  await write("app/tenon.toml", '[project]\nname = "app"\n');
  await write("app/src/handler.ts", handler('import { value } from "@acme/lib";'));
  await write("lib/package.json", manifest("@acme/lib", "./dist/index.js"));
  await write("lib/dist/index.js", value("lib"));
  await mkdir(join(app, "node_modules/@acme"), { recursive: true });
  await symlink("../../../lib", join(app, "node_modules/@acme/lib"));

  const terminal = develop(app);
  const { base } = await served(terminal, "app");
  const serves = (text: string) =>
    expect
      .poll(async () => (await fetch(`${base}/`)).text(), { timeout: 30_000 })
      .toBe(JSON.stringify({ value: text }));
  const fails = (text: RegExp) => terminal.sees(text);
  await serves("lib");

  // A sibling in the workspace: its build is written anew, removed and made again, and another one takes its place.
  await write("lib/dist/index.js", value("changed"));
  await serves("changed");
  await rm(join(folder, "lib/dist"), { recursive: true });
  await fails(/Could not resolve|cannot read|No such file|was not found/);
  await write("lib/dist/index.js", value("made again"));
  await serves("made again");
  await write("other/dist/index.js", value("other"));
  await write("other/package.json", manifest("@acme/lib", "./dist/index.js"));
  await rename(join(folder, "lib"), join(folder, "old"));
  await rename(join(folder, "other"), join(folder, "lib"));
  await serves("other");
  await write("lib/dist/second.js", value("second"));
  await write("lib/package.json", manifest("@acme/lib", "./dist/second.js"));
  await serves("second");
  // The link leads elsewhere.
  await symlink("../../../old", join(app, "node_modules/@acme/new"));
  await rename(join(app, "node_modules/@acme/new"), join(app, "node_modules/@acme/lib"));
  await serves("made again");

  // A package that is installed nearer, and one that is not installed yet.
  await write("node_modules/far/package.json", manifest("far", "./index.js"));
  await write("node_modules/far/index.js", value("far"));
  await write("app/src/handler.ts", handler('import { value } from "far";'));
  await serves("far");
  await write("app/node_modules/far/index.js", value("near"));
  await write("app/node_modules/far/package.json", manifest("far", "./index.js"));
  await serves("near");
  await write("app/src/handler.ts", handler('import { value } from "later";'));
  await fails(/later/);
  await write("made/package.json", manifest("later", "./index.js"));
  await write("made/index.js", value("later"));
  await rename(join(folder, "made"), join(app, "node_modules/later"));
  await serves("later");

  // A file that is missing, and one that wins over another.
  await write("app/src/handler.ts", handler('import { value } from "../../shared/deep/value";'));
  await fails(/shared/);
  await write("shared/deep/value.js", value("found"));
  await serves("found");
  await write("shared/deep/value.ts", value("preferred"));
  await serves("preferred");
  await unlink(join(folder, "shared/deep/value.ts"));
  await serves("found");

  // A name that a configuration gives, which extends another one.
  await write("base.json", JSON.stringify({ compilerOptions: { paths: { "~/*": ["./shared/*"] } } }));
  await write("app/tsconfig.json", '\ufeff{ "extends": "../base.json", /* as written by hand */ }\n');
  await write("app/src/handler.ts", handler('import { value } from "~/deep/value";'));
  await serves("found");
  await write("elsewhere/deep/value.ts", value("elsewhere"));
  await write("base.json", JSON.stringify({ compilerOptions: { paths: { "~/*": ["./elsewhere/*"] } } }));
  await serves("elsewhere");

  // A folder with a name that builds of other tools have.
  await write("app/src/dist/own.ts", value("own"));
  await write("app/src/handler.ts", handler('import { value } from "./dist/own.ts";'));
  await serves("own");
  await write("app/src/dist/own.ts", value("own 2"));
  await serves("own 2");
});
