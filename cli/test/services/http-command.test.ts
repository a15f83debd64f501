/** `tenon sidecar http` as an operator runs it. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { askAt } from "./ask.ts";
import { folder } from "./stores.ts";

const tenon = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));
const directory = folder();
const seen: (string | undefined)[] = [];
const api = createServer((req, res) => {
  if (req.url?.startsWith("/v1/broken")) {
    res.destroy();
    return;
  }
  seen.push(req.headers.authorization);
  res.end("{}");
}).listen(0, "127.0.0.1");
afterAll(() => {
  api.close();
  rmSync(directory, { recursive: true, force: true });
});

it("adds the credential, passes on what is allowed, and ends as it is told to", async () => {
  const key = join(directory, "key");
  const socket = join(directory, "api.sock");
  writeFileSync(key, "Bearer canary\n");
  const upstream = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const allow = ["--allow", "POST /v1/charges", "--allow", "GET /v1/customers/*", "--allow", "GET /v1/broken"];
  const args = [
    "http",
    "--upstream",
    upstream,
    "--header-file",
    `authorization=${key}`,
    ...allow,
    "--listen",
    `unix://${socket}`,
  ];
  const child = spawn(process.execPath, [tenon, "sidecar", ...args, "--json", "-v"]);
  let said = "";
  child.stderr.on("data", (data) => {
    said += data;
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    expect(JSON.parse(line)).toEqual({ kind: "http", address: `unix://${socket}` });
    break;
  }
  const ask = askAt(`unix://${socket}`);
  expect((await ask("GET", "/health")).json).toMatchObject({ status: "ok", kind: "http" });
  expect((await ask("POST", "/v1/charges")).status).toBe(200);
  expect((await ask("GET", "/v1/customers/cus_1")).status).toBe(200);
  expect((await ask("GET", "/v1/balance")).status).toBe(403);
  expect(seen).toEqual(["Bearer canary", "Bearer canary"]);
  expect((await ask("GET", "/v1/broken?key=canary")).status).toBe(502);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  expect(existsSync(socket)).toBe(false);
  expect(said).toContain(`Serve ${upstream} at unix://${socket}`);
  expect(said).toContain("GET /v1/broken: 502: the upstream cannot be reached: ");
  expect(said).not.toContain("canary");
});

it.each([
  [["http"], /--upstream <url>/],
  [["http", "--upstream", "https://a:canary@b.example"], /--upstream has credentials/],
  [["http", "--upstream", "https://b.example", "--header-file", "authorization"], /authorization=\/run\/secrets\/key/],
  [["http", "--upstream", "https://b.example", "--allow", "everything"], /"everything" allows nothing/],
  [["http", "--upstream", "https://b.example", "--retries", "many"], /from 0 to 9/],
])("%j is wrong usage", (args, message) => {
  const { status, stderr } = spawnSync(process.execPath, [tenon, "sidecar", ...args], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(stderr).not.toContain("canary");
});
