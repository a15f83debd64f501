/** The inputs of a bundle besides the handler: guest code, the half of the SDK that runs in components, and packages. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageFolder } from "../package.ts";
import { requireProject } from "../project/project.ts";
import { bundle } from "./bundle.ts";

let folder: string;
beforeAll(async () => {
  await mkdir(join(packageFolder, ".tenon"), { recursive: true });
  folder = await mkdtemp(join(packageFolder, ".tenon", "inputs-"));
});
afterAll(() => rm(folder, { recursive: true }));

const ofRoutes = `import * as sdk from "@tenon/sdk";
import * as sql from "@tenon/sdk/sql";
import { hash } from "@tenon/sdk/password";
import crypto from "node:crypto";
import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { Readable } from "node:stream";
addEventListener("error", () => {});
globalThis.used = [sdk, sql, hash, crypto, AsyncLocalStorage, inspect, Readable, Buffer, process, URLPattern, CompressionStream, structuredClone,
  MessageChannel, navigator.userAgent, crypto.createCipheriv, globalThis.crypto.subtle.sign, globalThis.crypto.subtle.generateKey, FormData, fetch];
const { get, ok, routes } = sdk;
export default routes({ it: get("/", () => ok({})) });
`;

const ofFetch = `export default { fetch: (request) => new Response(request.body) };\n`;

test.each([
  ["routes", ofRoutes, true],
  ["routes, in production", ofRoutes, false],
  ["fetch", ofFetch, true],
])("an app that speaks %s", async (name, source, checkResponses) => {
  const at = join(folder, name.replaceAll(/\W/g, ""));
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
  await writeFile(join(at, "src/handler.ts"), source);
  const { sourceMap } = await bundle(await requireProject(at), { minify: false, checkResponses });
  const { sources } = JSON.parse(await readFile(sourceMap, "utf8")) as { sources: string[] };
  const root = join(packageFolder, "..");
  const inputs = sources.map((each) => relative(root, resolve(dirname(sourceMap), each)));
  const isAllowed = (input: string) =>
    input.startsWith("guest/") ||
    (/^ts-sdk\/(?:src|dist)\//.test(input) && !/^ts-sdk\/\w+\/(?:openapi|testing|client)\//.test(input)) ||
    /(?:^|\/)node_modules\//.test(input) ||
    input.startsWith(relative(root, at));
  expect(inputs.length).toBeGreaterThan(20);
  expect(inputs.filter((input) => !isAllowed(input) && !/(?:^|\/)(?:tenon-|<)/.test(input))).toEqual([]);
});
