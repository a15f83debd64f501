/** A folder as a store: one sidecar at a time, no files of killed uploads, and URLs that clients outside can use. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Services } from "../../src/embed/services.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder } from "./stores.ts";

const directory = folder();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const start = (name: string, more: object = {}) =>
  Sidecar.start({
    kind: "storage",
    url: `file:${join(directory, name)}`,
    listen: `unix://${join(directory, `${name}-${readdirSync(directory).length}.sock`)}`,
    logLevel: "off",
    ...more,
  });

it("has one sidecar at a time", async () => {
  const first = await start("alone");
  await expect(start("alone")).rejects.toMatchObject({ code: "FOLDER", message: expect.stringContaining("another") });
  expect((await askAt(first.address)("GET", "/storage")).json.objects).toEqual([]);
  await first.close();
  await (await start("alone")).close();
});

it("is shared by several of the development services", async () => {
  const shared = join(directory, "shared");
  await using first = await Services.start({ folder: shared });
  await using second = await Services.start({ folder: shared });
  expect((await askAt(first.url)("PUT", "/storage/a", { body: "x" })).status).toBe(201);
  expect((await askAt(second.url)("GET", "/storage/a")).text).toBe("x");
});

it("deletes what killed uploads have left behind, and nothing else", async () => {
  const root = join(directory, "swept");
  await (await start("swept")).close();
  mkdirSync(join(root, "in"));
  // Two hours ago the folder was no store yet. In the second half it has been one for three hours.
  const now = Date.now() / 1000;
  const write = (name: string, age: number) => {
    writeFileSync(join(root, name), "half");
    utimesSync(join(root, name), now - age, now - age);
  };
  write("in/a#1", 7200);
  await (await start("swept")).close();
  expect(existsSync(join(root, "in/a#1"))).toBe(true);
  const url = `sqlite:${join(root, ".tenon-types.db")}`;
  const types = await Sidecar.start({ kind: "sql", url, listen: "127.0.0.1:0", logLevel: "off" });
  const sql = "UPDATE keys SET key = CAST($1 AS BLOB) WHERE name = 'since'";
  const json = { sql, params: [String(Math.floor(now) - 10_800)] };
  expect((await askAt(types.address)("POST", "/sql/execute", { json })).json).toEqual({ rows_affected: 1 });
  await types.close();
  write("in/fresh#12", 60);
  write("in/a#x", 7200);
  write("b", 7200);
  write("older#3", 20_000);
  await (await start("swept")).close();
  const left = readdirSync(root, { recursive: true }).filter((name) => statSync(join(root, `${name}`)).isFile());
  expect(left.filter((name) => !`${name}`.startsWith(".tenon-")).sort()).toEqual([
    "b",
    "in/a#x",
    "in/fresh#12",
    "older#3",
  ]);
});

it("signs URLs for the address that clients outside know", async () => {
  await using sidecar = await start("public", { publicUrl: "https://files.example.com/shop/" });
  const ask = askAt(sidecar.address);
  await ask("PUT", "/storage/a", { body: "x" });
  const { url } = (await ask("POST", "/storage-url", { json: { path: "a" } })).json;
  const base = "https://files.example.com/shop";
  expect(url.startsWith(`${base}/storage-url/a?`)).toBe(true);
  expect((await ask("GET", url.slice(base.length))).text).toBe("x");
});
