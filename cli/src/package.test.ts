import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Format } from "esbuild";
import { expect, test } from "vitest";

const entry = fileURLToPath(new URL("index.ts", import.meta.url));

/** Bundles the embedding API as an app does that does not keep it external, and loads the bundle. */
async function loaded(format: Format): Promise<string> {
  const app = await mkdtemp(join(tmpdir(), "tenon-bundled-"));
  try {
    await mkdir(join(app, "dist"));
    await writeFile(join(app, "package.json"), '{ "name": "app", "version": "9.9.9" }');
    const outfile = join(app, "dist", format === "cjs" ? "app.cjs" : "app.mjs");
    await build({ entryPoints: [entry], outfile, format, bundle: true, platform: "node", logLevel: "silent" });
    return spawnSync(process.execPath, [outfile], { encoding: "utf8" }).stderr;
  } finally {
    await rm(app, { recursive: true });
  }
}

test.each(["esm", "cjs"] as const)(
  "bundled into an app's file, in %s, it says what to do about that",
  async (format) => {
    const stderr = await loaded(format);
    expect(stderr).toContain("TenonError: the package `tenon` was bundled into another file");
    expect(stderr).toContain("keep it external (esbuild: --external:tenon;");
  },
);
