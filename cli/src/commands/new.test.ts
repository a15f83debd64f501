import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const tenon = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));

test("a command succeeds when nobody reads its messages", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "tenon-new-"));
  try {
    const child = spawn(process.execPath, [tenon, "new", "demo"], { cwd, stdio: ["ignore", "ignore", "pipe"] });
    child.stderr.destroy();
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(existsSync(join(cwd, "demo/tenon.toml"))).toBe(true);
  } finally {
    await rm(cwd, { recursive: true });
  }
});
