/** examples/webhooks as a component: a signed webhook in, and a call out through `tenon sidecar http`. */
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpSidecar, Runtime } from "../src/index.ts";
import { root, tenon } from "./servers.ts";

const project = join(root, "examples/webhooks");
const folder = mkdtempSync(join(tmpdir(), "webhooks-e2e-"));
const seen: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
const chat = createServer(async (req, res) => {
  let body = "";
  for await (const piece of req) body += piece;
  seen.push({ headers: req.headers, body });
  res.writeHead(201).end("{}");
});
let sidecar: HttpSidecar;
let runtime: Runtime;

beforeAll(async () => {
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: project, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  await new Promise<void>((listening) => chat.listen(0, "127.0.0.1", listening));
  writeFileSync(join(folder, "key"), "Bearer key-of-the-chat");
  sidecar = await HttpSidecar.start({
    upstream: `http://127.0.0.1:${(chat.address() as AddressInfo).port}`,
    listen: `unix://${join(folder, "chat.sock")}`,
    headerFiles: { authorization: join(folder, "key") },
    allow: ["POST /v1/messages"],
    token: "of the sidecar",
  });
  runtime = await Runtime.create({
    modules: [join(project, "dist/webhooks.wasm")],
    sidecars: { chat: sidecar.address },
    secrets: { GITHUB: "k", SIDECAR_CHAT_TOKEN: "of the sidecar" },
    logLevel: "off",
  });
});
afterAll(async () => {
  await runtime?.close();
  await sidecar?.close();
  chat.close();
  rmSync(folder, { recursive: true });
});

test("the chat is told, with a key that the module has never seen", async () => {
  const body = JSON.stringify({
    action: "opened",
    issue: { title: "x", html_url: "https://a.example/1" },
    repository: { full_name: "a/b" },
  });
  const deliver = (key: string) =>
    runtime.fetch(
      new Request("http://localhost/run/webhooks/github/issues", {
        method: "POST",
        body,
        headers: {
          "x-github-delivery": "d-1",
          "x-hub-signature-256": `sha256=${createHmac("sha256", key).update(body).digest("hex")}`,
          "content-type": "application/json",
        },
      }),
    );
  expect((await deliver("another")).status).toBe(401);
  expect((await deliver("k")).status).toBe(202);
  expect(seen.map(({ body }) => JSON.parse(body))).toEqual([{ text: "a/b: x https://a.example/1" }]);
  expect(seen[0]?.headers).toMatchObject({ authorization: "Bearer key-of-the-chat", "idempotency-key": "d-1" });
});
