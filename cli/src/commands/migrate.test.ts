import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const tenon = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));

test("Ctrl-C ends tenon migrate with 130 while the sidecar does not answer", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const migrating = spawn(process.execPath, [tenon, "migrate", address], { cwd: tmpdir(), stdio: "ignore" });
  const ended = once(migrating, "exit");
  await once(silent, "request");
  migrating.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
  silent.closeAllConnections();
  silent.close();
});
