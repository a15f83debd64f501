/** Checks the examples of the guide: each is type-checked, imported, and called with the page's requests. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { App } from "../src/index.ts";
import { testApp } from "../src/testing/index.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const folder = join(root, ".tenon/examples");

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: [string, string][];
  readonly body: string | undefined;
  readonly status: number;
  readonly expected: [string, string][];
  readonly answer: string | undefined;
}

interface Example {
  readonly page: string;
  readonly file: string;
  readonly exchanges: Exchange[];
}

/** A head and a body, with a blank line between. */
function parts(text: string): { first: string; headers: [string, string][]; body: string | undefined } {
  const [head = "", ...rest] = text.split(/\n\n/);
  const [first = "", ...lines] = head.split("\n");
  const headers = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  return { first, headers, body: rest.length === 0 ? undefined : rest.join("\n\n").trim() };
}

function parseExchange(text: string): Exchange {
  const [asked = "", answered = ""] = text.trim().split(/^→ /m);
  const request = parts(asked.trim());
  const response = parts(answered.trim());
  const [method = "", path = ""] = request.first.split(" ");
  return {
    method,
    path,
    headers: request.headers,
    body: request.body,
    status: Number(response.first),
    expected: response.headers,
    answer: response.body,
  };
}

/** Writes each `ts` block of a page as a module, and returns them with the `http` blocks that follow. */
function extract(page: string): Example[] {
  const text = readFileSync(join(root, page), "utf8");
  const examples: Example[] = [];
  for (const [, language, code = ""] of text.matchAll(/^```(ts|http)\n([\s\S]*?)^```$/gm)) {
    if (language === "http") {
      examples.at(-1)?.exchanges.push(...code.split(/^###$/m).map(parseExchange));
      continue;
    }
    const file = join(folder, `${page.replaceAll(/\W+/g, "-")}-${examples.length + 1}.ts`);
    const source = code
      .replace('"@tenon/sdk/testing"', '"../../src/testing/index.ts"')
      .replace('"@tenon/sdk/password"', '"../../src/password/index.ts"')
      .replace('"@tenon/sdk/kysely"', '"../../src/kysely/index.ts"')
      .replace('"@tenon/sdk/drizzle"', '"../../src/drizzle/index.ts"')
      .replaceAll('"@tenon/sdk"', '"../../src/index.ts"');
    writeFileSync(file, source.includes("import ") ? source : `export {};\n${source}`);
    examples.push({ page, file, exchanges: [] });
  }
  return examples;
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const pages = [
  "../README.md",
  "../docs/orm.md",
  "../docs/globals.md",
  "../docs/sdk.md",
  ...readdirSync(join(root, "../docs/sdk")).map((name) => `../docs/sdk/${name}`),
  "../docs/sidecars.md",
  "../docs/testing.md",
  "README.md",
];
const examples = pages.flatMap(extract);

it("type-checks every example", { timeout: 120_000 }, async () => {
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.types.json", include: ["*.ts"] }),
  );
  const run = promisify(execFile)(process.execPath, [tsc, "-p", folder, "--pretty", "false"]);
  expect(
    await run.then(
      ({ stdout }) => stdout,
      (failed: { stdout: string }) => failed.stdout,
    ),
  ).toBe("");
});

describe.each(examples.map((example, i) => [`example ${i + 1} of ${example.page}`, example] as const))(
  "%s",
  (_name, { file, exchanges }) => {
    let app: App | undefined;
    beforeAll(async () => {
      vi.spyOn(console, "error").mockImplementation(() => {});
      app = (await import(/* @vite-ignore */ pathToFileURL(file).href)).default;
    });
    afterAll(() => vi.restoreAllMocks());

    it("runs, and says what it is asked if it is an app", () => {
      expect(app !== undefined).toBe(exchanges.length > 0);
    });

    it.each(exchanges.map((exchange) => [`${exchange.method} ${exchange.path}`, exchange] as const))(
      "%s",
      async (_what, exchange) => {
        const { method, path, headers, body, status, expected, answer } = exchange;
        const response = await testApp(app as App).request(method, path, {
          headers,
          ...(body === undefined ? {} : { body }),
        });
        await response.read();
        expect({ status: response.status, text: response.text() }).toMatchObject({ status });
        for (const [name] of expected) {
          expect(response.headers.getAll(name)).toEqual(
            expected.filter(([other]) => other === name).map(([, value]) => value),
          );
        }
        if (answer !== undefined) expect(response.json()).toEqual(JSON.parse(answer));
      },
    );
  },
);
