/** The two ways of making a component, Tenon's own and `--reference`: the same handlers, the same answers. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type Exchange, send } from "./http.ts";
import { echoProject, helloProject, type Running, referenceOf, startTenon } from "./servers.ts";

const json = [["content-type", "application/json"]] as const;
const body = (value: unknown) => ({ headers: json, body: JSON.stringify(value) });
const requests: Readonly<Record<string, readonly Exchange[]>> = {
  hello: [
    { path: "/" },
    { path: "/health" },
    { path: "/users" },
    { path: "/users?page=2&limit=1" },
    { path: "/users?limit=101&page=x" },
    { method: "POST", path: "/users", ...body({ name: "Ada", email: "ada@example.com" }) },
    { method: "POST", path: "/users", ...body({ name: "" }) },
    { method: "POST", path: "/users", body: "{" },
    { path: "/users/7" },
    { path: "/users/99" },
    { path: "/users/seven" },
    { method: "DELETE", path: "/users/7" },
    { path: "/hello/Ada%20L%C3%B6" },
    { path: "/search?q=a+b%26c" },
    { method: "POST", path: "/users/search?limit=5", ...body({ name: { $contains: "a%" }, id: { $gt: 3 } }) },
    { path: "/nowhere" },
    { method: "PATCH", path: "/users" },
    { method: "PURGE", path: "/" },
  ],
  echo: [
    { method: "POST", path: "/echo", headers: [["content-type", "text/plain"]], body: "" },
    { method: "POST", path: "/echo", body: Buffer.alloc(3 * 1024 * 1024, "aä") },
    { path: "/large" },
    { path: "/segment/%C3%A4%20b?q=%F0%9F%98%80" },
    { path: `/segment/${"long".repeat(1500)}` },
    {
      path: "/headers",
      headers: [
        ["x-echo", "1"],
        ["x-echo", "Gr\xfc\xdfe"],
        ["x-echo", ""],
      ],
    },
    { path: "/latin" },
    { path: "/empty" },
    { path: "/teapot" },
    { path: "/environment" },
    { path: "/fail" },
    { path: "/count" },
    { path: "/kept" },
  ],
};

/** The comparable part of an answer: all but the values of one request and one server. */
function comparable({ status, headers, body }: Answer): unknown {
  const own = new Set(["date", "x-request-id"]);
  const text = body.toString("latin1").replaceAll(/"request_id":"[^"]*"|127\.0\.0\.1:\d+/g, "");
  return { status, headers: headers.filter(([name]) => !own.has(name.toLowerCase())), text };
}

const projects = [
  { name: "hello", project: helloProject },
  { name: "echo", project: echoProject },
];

describe.each(projects)("$name by componentize-js", ({ name, project }) => {
  let ours: Running;
  let other: Running;
  beforeAll(async () => {
    const start = (at: string) => startTenon([join(at, "dist", `${name}.wasm`)], name);
    [ours, other] = await Promise.all([start(project), start(referenceOf(project))]);
  });
  afterAll(() => Promise.all([ours?.stop(), other?.stop()]));

  test.each(
    (requests[name] ?? []).map((request) => [`${request.method ?? "GET"} ${request.path.slice(0, 60)}`, request]),
  )("%s", async (_name, request) => {
    const ask = async ({ base }: Running) => {
      const { pathname, origin } = new URL(base);
      return comparable(await send(origin, { ...request, path: pathname + request.path }));
    };
    expect(await ask(other)).toEqual(await ask(ours));
  });
});

test.each(projects)("$name has a source map", async ({ name, project }) => {
  expect(JSON.parse(await readFile(join(project, "dist", `${name}.wasm.map`), "utf8"))).toHaveProperty("mappings");
});
