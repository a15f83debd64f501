import { expect, test } from "vitest";
import { defaultConfig, parseConfig } from "./config.ts";
import { refuseMissingSidecars, tasksOf } from "./tasks.ts";

const file = (more: string) => parseConfig(`[project]\nname = "shop"\n${more}`, "tenon.toml");
const job = '[cron.a]\nschedule = "@daily"\nmodule = "shop"\npath = "/a"\n';
const mail = '[queues.mail]\nmodule = "shop"\npath = "/mail"\n';

test("has the jobs of a project, with POST where there is a body", () => {
  const declared = { name: "a", schedule: "@daily", timezone: "UTC", module: "shop", path: "/a" };
  const more = { catch_up: false, max_attempts: 3 };
  expect(tasksOf(file(job)).cron).toEqual({ owner: "shop", jobs: [{ ...declared, method: "GET", ...more }] });
  expect(tasksOf(file(`${job}body = "x"\ncatch_up = true\n`)).cron?.jobs).toEqual([
    { ...declared, method: "POST", body: "x", ...more, catch_up: true },
  ]);
  expect(tasksOf(file(`${job}body = { x = 1 }\nmethod = "PUT"\n`)).cron?.jobs).toEqual([
    { ...declared, method: "PUT", body: { x: 1 }, ...more },
  ]);
  expect(tasksOf(file("")).cron).toEqual({ owner: "shop", jobs: [] });
  expect(tasksOf(defaultConfig()).cron).toBeUndefined();
});

test("has the queues with the defaults of their keys", () => {
  const options = { module: "shop", path: "/mail", concurrency: 10, maxAttempts: 5, visibilityMs: 30_000 };
  expect(tasksOf(file(mail)).queues).toEqual({ mail: options });
});

test("needs the sidecars of queues and cron", () => {
  const cron = { Cron: "http://127.0.0.1:7005" };
  expect(() => refuseMissingSidecars(file(job), cron)).not.toThrow();
  expect(() => refuseMissingSidecars(file(""), {})).not.toThrow();
  expect(() => refuseMissingSidecars(file(job), {})).toThrow("there is [cron] in tenon.toml, and no sidecar `cron`");
  expect(() => refuseMissingSidecars(file(mail), cron)).toThrow(
    expect.objectContaining({
      code: "CONFIG",
      message: "there is [queues] in tenon.toml, and no sidecar `queue`",
      hint: expect.stringContaining('queue = { run = "queue", url = "env:DATABASE_URL" } under [sidecars]'),
    }),
  );
});
