/** A request on the page of `tenon dev` in a browser. The picture in the docs is taken where PAGE_PICTURES says. */
import { spawnSync } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { describeWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { Runtime } from "../src/embed/runtime.ts";
import { develop, developing, project, served } from "./develop.ts";
import { send } from "./http.ts";
import { tenon } from "./servers.ts";

developing();

const pictures = process.env["PAGE_PICTURES"];
const attack = `</pre><script>globalThis.attacked=1</script><img src=x onerror="globalThis.attacked=1">`;

const handler = `
import { cache, db, field, get, ok, post, respond, routes, Type } from "@tenon/sdk";

const Order = Type("Order", { item: field.string() });

function price(item: string): number {
  if (item === "unknown") throw new RangeError("no price for " + item);
  return 12;
}

export default routes({
  order: post("/orders", { body: Order }, async ({ body }) => {
    console.log("order of", body.item);
    await db.execute(["CREATE TABLE IF NOT EXISTS orders (item TEXT, price INTEGER)"]);
    await cache.set("last", body.item);
    const [found] = await db.query(["SELECT count(*) AS orders FROM orders WHERE item = ?", [body.item]]);
    const cost = price(body.item);
    await db.execute(["INSERT INTO orders VALUES (?, ?)", [body.item, cost]]);
    return ok({ number: Number(found?.orders) + 1, cost });
  }),
  attack: post("/attack", { body: Order }, async ({ body }) => {
    console.log(body.item);
    console.error(body.item);
    await db.query(["SELECT '" + body.item + "' AS a"]).catch(() => {});
    await cache.get(body.item).catch(() => {});
    return respond(200, { body: body.item, headers: { "content-type": "text/html", "x-attack": body.item } });
  }),
  thrown: get("/thrown", () => { throw new Error(${JSON.stringify(attack)}); }),
  binary: get("/binary", () => respond(200, { body: new Uint8Array([0, 1, 2, 255]), headers: { "content-type": "image/png" } })),
});
`;

const taped = `
import { field, ok, post, routes, Type } from "@tenon/sdk";

const Order = Type("Order", { item: field.string() });

export default routes({
  order: post("/orders", { body: Order }, ({ body }) => {
    console.log("order of", body.item, Math.random() < 2);
    return ok({ cost: 12 });
  }),
});
`;

interface Listed {
  readonly path: string;
  readonly transcript: number | null;
}

describeWith("chromium", "the page of a request", () => {
  let browser: Browser;
  let base: string;
  let services: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: findProgram("chromium") as string, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  const post = (path: string, item: string, headers: readonly (readonly [string, string])[] = []) =>
    send(base, {
      method: "POST",
      path: `/run/shown${path}`,
      headers: [["content-type", "application/json"], ...headers],
      body: JSON.stringify({ item }),
    });
  const listed = async () =>
    ((await send(services, { path: "/runtime" })).json() as { requests: Listed[] }).requests.filter(({ path }) =>
      path.startsWith("/run/shown/"),
    );

  /** Opens the page and clicks on the newest request of a path. */
  async function open(path: string, options: object = {}): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1100, height: 1000 }, ...options });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("dialog", (dialog) => complaints.push(dialog.message()));
    await page.goto(services);
    await page.getByRole("button", { name: path }).first().click();
    await page.getByRole("button", { name: "Send again" }).waitFor();
    return page;
  }

  test("shows what it did, as text, and sends it again", { timeout: 300_000 }, async () => {
    const at = await project("shown", handler, `[server]\nport = ${await freePort()}\n`);
    ({ base, services } = await served(develop(at), "shown"));

    // A request with everything.
    const credentials = [
      ["authorization", "Bearer canary-1"],
      ["cookie", "session=canary-2"],
      ["x-api-key", "canary-3"],
    ] as const;
    expect((await post("/orders", "unknown", credentials)).status).toBe(500);
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await open("/run/shown/orders", { colorScheme });
      const shown = page.locator("#request");
      await shown.getByText(/^src\/handler\.ts:7:\d+$/).waitFor();
      const text = (await shown.textContent()) ?? "";
      expect(text).toContain("RangeError: no price for unknown");
      expect(text).toContain("order of unknown");
      expect(text).toContain('{"item":"unknown"}');
      expect(text).toContain("SELECT count(*) AS orders FROM orders WHERE item = ?");
      // Parameters may be a user's data.
      expect(text).toContain("1 parameter: •••");
      await shown.getByRole("button", { name: "show", exact: true }).first().click();
      await shown.getByText('$1 = "unknown"').waitFor();
      expect(text).toMatch(/cache PUT \/kv\/last/);
      expect(text).toMatch(/authorization\*{3}/);
      expect(text).not.toContain("canary");
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, `request-${colorScheme}.png`) });
      await page.close();
    }

    // Texts that are markup.
    const header = [
      ["x-'a'", attack],
      ["x-b", "\u00ff<b>"],
    ] as const;
    expect((await post(`/attack?q='{}${encodeURIComponent(attack)}`, attack, header)).status).toBe(200);
    await send(base, { path: "/run/shown/thrown" });
    await send(base, { path: "/run/shown/'onclick='alert(1)" });
    for (const path of ["/run/shown/attack", "/run/shown/thrown", "/run/shown/'onclick='alert(1)"]) {
      const page = await open(path);
      expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
      expect(await page.locator("#request").locator("script, img, b").count()).toBe(0);
      if (path.endsWith("attack")) {
        const text = (await page.locator("#request").textContent()) ?? "";
        // In the header, the two bodies, two lines, the statement and the answer's header.
        expect(text.split("globalThis.attacked=1</script>").length).toBeGreaterThan(6);
      }
      await page.close();
    }

    // A binary body is named.
    await send(base, { path: "/run/shown/binary" });
    const binary = await open("/run/shown/binary");
    await binary.getByText("Binary body of 4 B.").waitFor();
    await binary.close();

    // Once more, with its credentials.
    const before = (await listed()).length;
    expect((await post("/orders", "pen", credentials)).json()).toMatchObject({ number: 1 });
    const page = await open("/run/shown/orders");
    await page.locator("#request").getByText('"number":1').waitFor();
    await page.getByRole("button", { name: "Send again" }).click();
    await page.locator("#request").getByText('"number":2').waitFor();
    await page.close();
    const after = await listed();
    expect(after.length).toBe(before + 2);

    // Other pages may neither read nor send it.
    const { transcript } = after.at(-1) ?? {};
    const one = `/runtime/requests/${transcript}`;
    for (const refused of [
      [["origin", "http://evil.example"]],
      [["origin", "null"]],
      [
        ["sec-fetch-site", "cross-site"],
        ["sec-fetch-mode", "cors"],
      ],
    ] as const) {
      const answer = await send(services, { method: "POST", path: `${one}/again`, headers: refused, body: "" });
      expect(answer.status).toBe(403);
      expect((await send(services, { path: one, headers: refused })).status).toBe(403);
    }
    expect((await send(services, { path: `${one}/again` })).status).toBe(405);
    for (const gone of ["99999", "-1", "x"]) {
      expect((await send(services, { path: `/runtime/requests/${gone}` })).status).toBe(404);
      expect((await send(services, { method: "POST", path: `/runtime/requests/${gone}/again` })).status).toBe(404);
    }
    expect((await listed()).length).toBe(before + 2);
    expect(complaints).toEqual([]);
  });

  test("a recording is shown step by step, and runs in each build", { timeout: 300_000 }, async () => {
    const at = await project("taped", taped, `[server]\nport = ${await freePort()}\n`);
    const built = spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" });
    expect(built.status, built.stderr).toBe(0);
    const folder = join(at, "recordings");
    const record = { folder, share: 1 };
    const runtime = await Runtime.create({ modules: [join(at, "dist/taped.wasm")], logLevel: "off", record });
    const body = JSON.stringify({ item: attack });
    const asked = new Request("http://tenon/run/taped/orders", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    expect(await (await runtime.fetch(asked)).json()).toEqual({ cost: 12 });
    await runtime.close();
    const [file = ""] = await readdir(folder);

    const terminal = develop(at, `--recording ${join(folder, file)}`);
    const [, url = ""] = await terminal.sees(/Recording (\S+)\n/);
    const page = await browser.newPage();
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(url);
    await page.getByText("The last successful build: same").waitFor();
    const step = page.locator("#step");
    const seen: string[] = [];
    for (;;) {
      seen.push((await step.locator("h2").first().textContent()) ?? "");
      if (await page.getByRole("button", { name: "Next" }).isDisabled()) break;
      await page.keyboard.press("ArrowRight");
    }
    expect(seen).toEqual(["request", "log", "answer"]);
    expect(await step.textContent()).toContain('{"cost":12}');
    await page.keyboard.press("ArrowLeft");
    expect(await step.textContent()).toContain(attack);
    expect(await page.evaluate("globalThis.attacked")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    await page.getByLabel("clocks, random values and waits").check();
    await page.locator("#steps").getByText("random", { exact: false }).first().waitFor();

    // A change of the sources, and one that cannot be built.
    await writeFile(join(at, "src/handler.ts"), taped.replace("12", "13"));
    await page.getByText("#/cost: 12 → 13").waitFor();
    await writeFile(join(at, "src/handler.ts"), `${taped}(`);
    await terminal.sees(/the last successful build is still served/);
    await writeFile(join(at, "src/handler.ts"), taped);
    await page.getByText("The last successful build: same").waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});
