import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeSchema } from "@tenon/sdk/openapi";
import { testApp } from "@tenon/sdk/testing";
import { HttpSidecar } from "tenon";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import app from "../src/handler.ts";

const GITHUB = "a secret that GitHub knows";
const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
let messages: { readonly headers: IncomingHttpHeaders; readonly text: string }[] = [];
let respond: (res: ServerResponse) => void;

/** A chat's API on this machine. */
const chat = createServer(async (req, res) => {
  let body = "";
  for await (const piece of req) body += piece;
  messages.push({ headers: req.headers, text: JSON.parse(body).text });
  respond(res);
});
let sidecar: HttpSidecar;
let api: ReturnType<typeof testApp>;

beforeAll(async () => {
  await new Promise<void>((listening) => chat.listen(0, "127.0.0.1", listening));
  writeFileSync(join(folder, "chat"), "Bearer key-of-the-chat\n");
  sidecar = await HttpSidecar.start({
    upstream: `http://127.0.0.1:${(chat.address() as AddressInfo).port}`,
    listen: "127.0.0.1:0",
    headerFiles: { authorization: join(folder, "chat") },
    allow: ["POST /v1/messages"],
  });
  api = testApp(app, { env: { SIDECAR_CHAT_URL: sidecar.address }, secrets: { GITHUB } });
});
beforeEach(() => {
  messages = [];
  respond = (res) => res.writeHead(201).end("{}");
});
afterAll(async () => {
  await sidecar.close();
  chat.close();
  rmSync(folder, { recursive: true });
});

const opened = {
  action: "opened",
  issue: { title: "It is slow", html_url: "https://github.com/a/b/issues/1", number: 1 },
  repository: { full_name: "a/b" },
};

/** Sends an event like GitHub, signed with a key. */
function deliver(event: object, key = GITHUB, path = "/github/issues", to = api) {
  const body = JSON.stringify(event);
  const signature = `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  const headers = { "content-type": "application/json", "x-github-delivery": "d-1", "x-hub-signature-256": signature };
  return to.post(path, { body, headers });
}

test("the chat is told of an issue, with the key that the sidecar has", async () => {
  expect((await deliver(opened)).status).toBe(202);
  expect(messages.map(({ text }) => text)).toEqual(["a/b: It is slow https://github.com/a/b/issues/1"]);
  expect(messages[0]?.headers).toMatchObject({ authorization: "Bearer key-of-the-chat", "idempotency-key": "d-1" });
});

test("other events are taken and nothing comes of them", async () => {
  expect((await deliver({ ...opened, action: "closed" })).status).toBe(202);
  expect((await deliver({ zen: "Keep it simple." }, GITHUB, "/github/ping")).status).toBe(204);
  expect(messages).toEqual([]);
});

test("what GitHub has not signed is 401, whatever is in it", async () => {
  expect((await deliver(opened, "another secret")).status).toBe(401);
  expect((await api.post("/github/issues", { body: "garbage" })).status).toBe(401);
  const wrong = await deliver({ action: 1 });
  expect([wrong.status, wrong.json().errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
    400,
    ["#/action", "#/issue", "#/repository"],
  ]);
  expect(messages).toEqual([]);
});

test("a chat that is busy is asked again", async () => {
  respond = (res) => res.writeHead(messages.length < 2 ? 503 : 201).end("{}");
  expect((await deliver(opened)).status).toBe(202);
  expect(messages.map(({ headers }) => headers["idempotency-key"])).toEqual(["d-1", "d-1"]);
});

test("a chat that refuses, or is not there, is 502", async () => {
  respond = (res) => res.writeHead(422).end("{}");
  expect((await deliver(opened)).status).toBe(502);
  // No sidecar is configured, or its address has no listener.
  const environments: Record<string, string>[] = [{}, { SIDECAR_CHAT_URL: "http://127.0.0.1:9" }];
  for (const env of environments) {
    expect((await deliver(opened, GITHUB, "/github/issues", testApp(app, { env, secrets: { GITHUB } }))).status).toBe(
      502,
    );
  }
});

// Writes openapi.json beside package.json. By itself: npx vitest run -t __sdk_write_schema
test("__sdk_write_schema", ({ task }) => {
  const { bytes } = writeSchema(task.file.filepath);
  expect(bytes).toBeGreaterThan(0);
});
