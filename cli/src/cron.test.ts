import { expect, test } from "vitest";
import { cronServiceOf, declarationOf } from "./cron.ts";
import { defaultConfig, parseConfig } from "./project/config.ts";

const file = (more: string) => parseConfig(`[project]\nname = "shop"\n${more}`, "tenon.toml");
const job = '[cron.a]\nschedule = "@daily"\nmodule = "shop"\npath = "/a"\n';

test("declares the jobs of a project, with POST where there is a body", () => {
  const declared = { name: "a", schedule: "@daily", timezone: "UTC", module: "shop", path: "/a" };
  const more = { catch_up: false, max_attempts: 3 };
  expect(declarationOf(file(job))).toEqual({ owner: "shop", jobs: [{ ...declared, method: "GET", ...more }] });
  expect(declarationOf(file(`${job}body = "x"\ncatch_up = true\n`))?.jobs).toEqual([
    { ...declared, method: "POST", body: "x", ...more, catch_up: true },
  ]);
  expect(declarationOf(file(`${job}body = { x = 1 }\nmethod = "PUT"\n`))?.jobs).toEqual([
    { ...declared, method: "PUT", body: { x: 1 }, ...more },
  ]);
  expect(declarationOf(file(""))).toEqual({ owner: "shop", jobs: [] });
  expect(declarationOf(defaultConfig())).toBeUndefined();
});

test("finds the sidecar of cron, with its token", () => {
  const options = { sidecars: { Cron: "http://127.0.0.1:7005" }, secrets: { SIDECAR_CRON_TOKEN: "t" }, env: {} };
  expect(cronServiceOf(file(job), options)).toEqual({ address: "http://127.0.0.1:7005", token: "t" });
  expect(cronServiceOf(file(""), { sidecars: {} })).toBeUndefined();
  expect(() => cronServiceOf(file(job), { sidecars: {} })).toThrow(
    "there is [cron] in tenon.toml, and no sidecar `cron`",
  );
});
