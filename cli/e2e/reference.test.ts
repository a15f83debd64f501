/** The API reference of `tenon dev` in a browser, as its pages come from a server that has nothing else. */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { requireProject } from "../src/project/project.ts";
import { documentFor } from "../src/schema/document.ts";
import { referencePage, type ServedPage } from "../src/schema/reference-page.ts";
import { helloProject, root, tenon } from "./servers.ts";

const specUrl = "/run/hello/openapi.json";

test("is one page and what it loads, below /docs", () => {
  const pages = referencePage({ title: "A </title><script>", specUrl });
  expect(pages.map(({ path }) => path)).toEqual([
    "/docs",
    "/docs/",
    "/docs/page.js",
    "/docs/swagger-ui-bundle.js",
    "/docs/swagger-ui.css",
  ]);
  expect(String(pages[0]?.body)).toContain("<title>A &#60;/title&#62;&#60;script&#62;</title>");
});

describeWith("chromium", "in a browser", () => {
  let server: Server;
  let browser: Browser;
  let origin: string;
  /** Requests to the server besides the page. */
  const asked: string[] = [];

  beforeAll(async () => {
    const document = await documentFor(await requireProject(helloProject));
    const spec: ServedPage = { path: specUrl, contentType: "application/json", body: document };
    const pages = new Map([...referencePage({ title: "hello", specUrl }), spec].map((page) => [page.path, page]));
    server = createServer(({ method, url = "" }, response) => {
      const page = pages.get(url);
      if (page === undefined) asked.push(`${method} ${url}`);
      response.writeHead(page === undefined ? 404 : 200, { "content-type": page?.contentType ?? "application/json" });
      response.end(page?.body ?? "{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: findProgram("chromium") as string, args: ["--no-sandbox"] });
  });

  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => server.close(resolve));
  });

  test("shows every operation, asks nobody but its server, and sends what is tried out to the module", async () => {
    const page = await browser.newPage({ viewport: { width: 1100, height: 1400 } });
    const outside: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin)) outside.push(request.url());
    });
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${origin}/docs`);

    const getUser = page.locator(".opblock", { hasText: "Get one user." });
    await getUser.waitFor();
    expect(await page.title()).toBe("hello");
    expect(await page.locator(".opblock").count()).toBe(9);
    expect(await getUser.innerText()).toMatch(/GET\s+\/users\/\{id\}\s+Get one user\./);
    expect({ outside, complaints, asked }).toEqual({ outside: [], complaints: [], asked: [] });

    await getUser.locator(".opblock-summary-control").click();
    await getUser.getByText("Try it out").click();
    await getUser.getByPlaceholder("id").fill("7");
    await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
    await page.screenshot({ path: join(root, "cli/e2e/.tenon/reference.png") });
    await getUser.getByText("Execute", { exact: true }).click();
    await getUser.locator(".live-responses-table").waitFor();
    expect(asked).toEqual(["GET /run/hello/users/7"]);
    expect(outside).toEqual([]);
  });

  test("is what tenon dev has at /docs, where the module itself answers", async () => {
    const folder = await mkdtemp(join(root, "cli/e2e/.tenon/reference-"));
    for (const name of ["package.json", "tenon.toml", "src"])
      await cp(join(helloProject, name), join(folder, name), { recursive: true });
    const dev = spawn(process.execPath, [tenon, "dev", "--port", "0"], { cwd: folder });
    try {
      const docs = await new Promise<string>((resolve, reject) => {
        let said = "";
        dev.stderr.on("data", (data) => {
          said += data;
          const [, url] = /Docs (http\S+\/docs)/.exec(said) ?? [];
          if (url !== undefined) resolve(url);
        });
        dev.once("exit", (code) => reject(new Error(`tenon dev ended with ${code}; it said:\n${said}`)));
      });
      const page = await browser.newPage({ colorScheme: "dark" });
      await page.goto(docs);
      expect(await page.locator("html").getAttribute("class")).toBe("dark-mode");
      const greet = page.locator(".opblock", { hasText: "Greet somebody." });
      await greet.locator(".opblock-summary-control").click();
      await greet.getByText("Try it out").click();
      await greet.getByPlaceholder("name").fill("Ada & Bob");
      await greet.getByText("Execute", { exact: true }).click();
      await greet.locator(".live-responses-table").getByText("Hello, Ada & Bob!").waitFor();
    } finally {
      const exited = new Promise((resolve) => dev.once("exit", resolve));
      if (dev.exitCode === null && dev.kill("SIGTERM")) await exited;
      await rm(folder, { recursive: true });
    }
  });
});
