/** The services page in a browser, wide and narrow, light and dark. Pictures go where PAGE_PICTURES says. */
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { Runtime } from "../../src/embed/runtime.ts";
import { Services } from "../../src/embed/services.ts";
import { type Ask, askAt } from "./ask.ts";
import { folder } from "./stores.ts";

const pictures = process.env["PAGE_PICTURES"];

describeWith("chromium", "the services page", () => {
  let services: Services;
  let runtime: Runtime;
  let ask: Ask;
  let browser: Browser;

  beforeAll(async () => {
    services = await Services.start({ folder: folder() });
    runtime = await Runtime.create({ modules: [], logLevel: "off" });
    services.attach(runtime, "http://127.0.0.1:3000");
    ask = askAt(services.url);
    runtime.setPage("/_tenon/build", { contentType: "application/json", body: "{}", unlisted: true });
    for (const path of ["/health", "/run/none/", "/x", "/_tenon/build"])
      await runtime.fetch(new Request(`http://127.0.0.1:3000${path}`));
    await ask("PUT", "/kv/session:1", {
      body: '{"user":"<b>Ann</b>"}',
      headers: { "content-type": "application/json" },
    });
    for (let n = 0; n < 120; n++) await ask("PUT", `/kv/key:${String(n).padStart(3, "0")}`, { body: `${n}` });
    const sql = (text: string) => ask("POST", "/sql/execute", { json: { sql: text } });
    await sql("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, active BOOLEAN)");
    await sql(
      "INSERT INTO users (name, email, active) VALUES ('Ann <script>alert(1)</script>', NULL, 1), ('Bob', 'bob@example.com', 0)",
    );
    await ask("PUT", "/storage/images/logo.svg", { body: "<svg/>", headers: { "content-type": "image/svg+xml" } });
    await ask("PUT", "/storage/reports/2026/march%20(final).pdf", {
      body: Buffer.alloc(150_000),
      headers: { "content-type": "application/pdf" },
    });
    await ask("POST", "/cron", {
      json: { name: "nightly", schedule: "0 3 * * *", module: "hello", path: "/reports", method: "POST" },
    });
    await ask("POST", "/queue/mail", { json: { messages: [{ body: 1 }, { body: 2, delay: 1000 }] } });
    await ask("POST", "/queue/mail.dead", { json: { messages: [{ body: 3 }, { body: 4 }] } });
    browser = await chromium.launch({ executablePath: findProgram("chromium") as string, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    await services.close();
    await runtime.close();
  });

  /** Opens a section, and fails on anything that the browser complains about. */
  async function open(section: string, options: object = {}): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(services.url) && !request.url().startsWith("data:")) complaints.push(request.url());
    });
    await page.goto(`${services.url}/#${section}`);
    await page.waitForLoadState("networkidle").catch(() => {});
    return { page, complaints };
  }

  it("shows requests, keys, objects and jobs", async () => {
    const { page, complaints } = await open("modules");
    await page.getByRole("cell", { name: "/run/none/" }).waitFor();
    // The page of a failed build polls, and these requests are not listed.
    expect(await page.getByRole("cell", { name: "/_tenon/build" }).count()).toBe(0);
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByLabel("Prefix").first().fill("session");
    await page.getByRole("button", { name: "Show" }).first().click();
    await page.getByRole("button", { name: "session:1" }).click();
    await page.getByText('{"user":"<b>Ann</b>"}').waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No keys.").waitFor();
    await page.getByLabel("Prefix").first().fill("");
    await page.getByRole("button", { name: "Show" }).first().click();
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByRole("button", { name: "key:119" }).waitFor();
    await page.getByRole("link", { name: "Storage" }).click();
    await page.getByRole("cell", { name: "reports/2026/march (final).pdf" }).waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).last().click();
    expect((await download).suggestedFilename()).toBe("march (final).pdf");
    await page.getByRole("link", { name: "Queues" }).click();
    await page.getByRole("row", { name: "mail 1 1 0 2" }).waitFor();
    await page.getByRole("link", { name: "Cron" }).click();
    await page.getByRole("button", { name: "Run" }).last().click();
    await page.getByText("Last runs of nightly").waitFor();
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("button", { name: "Turn on" }).waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("runs SQL and shows what the database says, as text", async () => {
    const { page, complaints } = await open("sql");
    await page.getByRole("button", { name: "users" }).click();
    await page.getByRole("cell", { name: "Ann <script>alert(1)</script>" }).waitFor();
    expect(await page.getByText("2 rows in").count()).toBe(1);
    const box = page.getByLabel("SQL statement");
    await box.fill("UPDATE users SET active = 1");
    await box.press("Control+Enter");
    await page.getByText("2 rows changed").waitFor();
    expect(complaints).toEqual([]);
    await box.fill("SELECT * FROM nowhere");
    await page.getByRole("button", { name: "Run" }).first().click();
    await page.getByRole("alert").getByText("no such table: nowhere").waitFor();
    await page.close();
  });

  it.each([
    ["wide", 1280, 800],
    ["narrow", 375, 720],
  ] as const)("fits %s screens, light and dark", async (width, pixels, height) => {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const section of ["modules", "keys", "sql", "storage", "queues", "cron"]) {
        const { page, complaints } = await open(section, { viewport: { width: pixels, height }, colorScheme });
        if (section === "sql") {
          await page.getByRole("button", { name: "users" }).click();
          await page.getByRole("cell", { name: "bob@example.com" }).waitFor();
        }
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([section, overflow]).toEqual([section, 0]);
        expect(complaints).toEqual([]);
        if (pictures !== undefined) {
          await page.screenshot({ path: join(pictures, `services-${section}-${width}-${colorScheme}.png`) });
        }
        await page.close();
      }
    }
  });
});
