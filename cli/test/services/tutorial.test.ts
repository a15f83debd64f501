/** `docs/tutorial.md`: writes its files, step by step, and sends its requests. */
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type TestApp, testApp } from "@tenon/sdk/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate, Services } from "../../src/index.ts";
import { parseConfig } from "../../src/project/config.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const text = readFileSync(join(root, "docs/tutorial.md"), "utf8");
const secrets = { JWT: "a-key-of-at-least-thirty-two-bytes-for-development", STRIPE: "whsec_for_development" };

/** A step: the files that it writes, by name, and the requests that it makes, in order. */
interface Step {
  readonly title: string;
  readonly files: ReadonlyMap<string, string>;
  readonly exchanges: readonly string[];
}

const steps = text
  .split(/^## (?=\d)/m)
  .slice(1)
  .map((section): Step => {
    const files = new Map<string, string>();
    const exchanges: string[] = [];
    for (const [, info = "", code = ""] of section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
      const [language, name] = info.split(" ");
      if (language === "http") exchanges.push(...code.split(/^###$/m));
      else if (name !== undefined) files.set(name, code);
    }
    return { title: section.slice(0, section.indexOf("\n")), files, exchanges };
  });

// Inside the clone, where handlers find the SDK.
mkdirSync(join(root, "cli/test/.tenon"), { recursive: true });
const folder = mkdtempSync(join(root, "cli/test/.tenon/tutorial-"));
let services: Services;
beforeAll(async () => {
  services = await Services.start({ folder: join(folder, "services") });
});
afterAll(async () => {
  await services.close();
  rmSync(folder, { recursive: true });
});

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256" })}.${part({ iss: "shop", ...claims })}`;
  return `${signed}.${createHmac("sha256", secrets.JWT).update(signed).digest("base64url")}`;
}

/** The value for a token or a signature on the page. */
function filledIn(value: string, body: string): string {
  const at = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", secrets.STRIPE).update(`${at}.${body}`).digest("hex");
  return value
    .replace("$ADMIN", token({ sub: "Grace", role: "admin" }))
    .replace("$ADA", token({ sub: "Ada" }))
    .replace("$STRIPE", `t=${at},v1=${signature}`);
}

function parts(given: string): { first: string; headers: [string, string][]; body: string } {
  const [head = "", ...rest] = given.trim().split("\n\n");
  const [first = "", ...lines] = head.split("\n");
  const headers = lines.map((line): [string, string] => [
    line.split(": ", 1)[0] ?? "",
    line.slice(line.indexOf(": ") + 2),
  ]);
  return { first, headers, body: rest.join("\n\n") };
}

async function exchange(api: TestApp, written: string): Promise<void> {
  const [asked = "", answered = ""] = written.split(/^→ /m);
  const { first, headers, body } = parts(asked);
  const [method = "", path = ""] = first.split(" ");
  const isForm = headers.some(([, value]) => value.startsWith("multipart/"));
  const sent = isForm ? body.replaceAll("\n", "\r\n") : body;
  const filled = headers.map(([name, value]): [string, string] => [name, filledIn(value, sent)]);
  const answer = await api.request(method, path, { headers: filled, ...(sent === "" ? {} : { body: sent }) });
  const expected = parts(answered);
  expect([asked, answer.status, answer.text()]).toEqual([asked, Number(expected.first), answer.text()]);
  for (const [name, value] of expected.headers) expect([name, answer.headers.get(name)]).toEqual([name, value]);
  if (expected.body !== "") expect(answer.json()).toMatchObject(JSON.parse(expected.body));
}

/** The project after each step, with all files so far. */
const written = new Map<string, string>();
describe.each(steps.map((step, i) => [step.title, step, i] as const))("%s", (_title, { files, exchanges }, i) => {
  let api: TestApp;
  beforeAll(async () => {
    for (const [name, content] of files) written.set(name, content);
    const project = join(folder, String(i));
    for (const [name, content] of written) {
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), content);
    }
    const load = (name: string) => import(/* @vite-ignore */ pathToFileURL(join(project, name)).href);
    if (i === 0) await migrate({ address: services.url, folder: join(project, "migrations") });
    const env = { SIDECAR_DB_URL: services.url, SIDECAR_STORAGE_URL: services.url, DIALECT: "sqlite" };
    api = testApp((await load("src/handler.ts")).default, { env, secrets });
  });

  it("does what the page says", async () => {
    for (const one of exchanges) await exchange(api, one);
  });
});

it("type-checks after each step", async () => {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "examples/shop/tsconfig.json"), "utf8"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*/src", "*/test"] }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const run = promisify(execFile)(process.execPath, [tsc, "-p", folder, "--pretty", "false"]);
  const output = await run.then(
    ({ stdout }) => stdout,
    (failed: { stdout: string }) => failed.stdout,
  );
  expect(output).toBe("");
});

it("has come to examples/shop at its end", () => {
  expect(steps).toHaveLength(6);
  const kept = [...written].filter(([name]) => name !== ".env" && name !== "test/example.test.ts");
  expect(kept.length).toBeGreaterThanOrEqual(9);
  for (const [name, content] of kept) {
    expect([name, content]).toEqual([name, readFileSync(join(root, "examples/shop", name), "utf8")]);
  }
  const config = parseConfig(written.get("tenon.toml") ?? "", "tenon.toml");
  const variables = Object.fromEntries(
    (written.get(".env") ?? "")
      .trim()
      .split("\n")
      .map((line) => line.split("=")),
  );
  const values = Object.entries(config.secrets).map(([name, source]) => [name, variables[source.replace("env:", "")]]);
  expect(Object.fromEntries(values)).toEqual(secrets);
});
