/** The page of `tenon dev` with an app's tools, in a browser. */
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { describeWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { develop, developing, project, served } from "./develop.ts";

developing();

const handler = (options: string) => `
import { bearer, field, ok, post, routes, use } from "@tenon/sdk";
const signedIn = use(bearer((token) => (token === "mine" ? { name: "Ada" } : undefined)));
export default routes({
  /** Greets <b>somebody</b>. */
  greet: signedIn.post("/greet", { body: { name: field.string() } }, ({ body }, _req, { user }) => ok({ text: body.name + " and " + user.name })),
}${options});
`;

describeWith("chromium", "the page of tools", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: findProgram("chromium") as string, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  test("lists the tools, calls one, and shows the configurations of clients", async () => {
    const at = await project("tools", handler(", { mcp: {} }"), `[server]\nport = ${await freePort()}\n`);
    const { url } = await served(develop(at), "tools");
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await page.goto(`${url}/tools`);
    await page.getByText("1 tool at POST").waitFor();
    await page.locator("#headers").fill("authorization: Bearer mine");
    await page.getByText("greet", { exact: true }).click();
    await page.getByText("Greets <b>somebody</b>.").waitFor();
    await page.locator("#tools textarea").fill('{ "name": "Grace" }');
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText('"Grace and Ada"').waitFor();
    const clients = (await page.locator("#clients").textContent()) ?? "";
    expect(clients).toContain(`claude mcp add --transport http tools ${url}/run/tools/mcp`);
    expect(clients).toContain(`"--no",\n        "--prefix",\n        ${JSON.stringify(at)}`);
    expect(complaints).toEqual([]);
  });

  test("searches, and runs a program", async () => {
    const at = await project("coded", handler(", { mcp: { code: true } }"), `[server]\nport = ${await freePort()}\n`);
    const { url } = await served(develop(at), "coded");
    const page = await browser.newPage();
    await page.goto(`${url}/tools`);
    await page.getByText("2 tools at POST").waitFor();
    await page.locator("#headers").fill("authorization: Bearer mine");
    const tool = (name: string) =>
      page.locator("#tools > details").filter({ has: page.getByText(name, { exact: true }) });
    await tool("search").locator("summary").first().click();
    await tool("search").getByRole("button", { name: "Call" }).click();
    await page.getByText("api.greet(input: { body: { name: string } })").waitFor();
    await tool("execute").locator("summary").first().click();
    const code = "const { data } = await api.greet({ body: { name: 'Grace' } });\ndata.text as string";
    await tool("execute").locator("textarea").first().fill(code);
    await tool("execute").getByRole("button", { name: "Call" }).click();
    await page.getByText('"value": "Grace and Ada"').waitFor();
  });

  test("says how an app gets tools", async () => {
    const at = await project("none", handler(""), `[server]\nport = ${await freePort()}\n`);
    const { url } = await served(develop(at), "none");
    const page = await browser.newPage();
    await page.goto(`${url}/tools`);
    await page.getByText("The module has no tools").waitFor();
  });
});
