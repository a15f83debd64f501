/** Cron of `tenon dev`, with a component that is called: by hand, by the clock, and after another start. */
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { hour } from "../test/services/half-day.ts";
import { develop, developing, project, served } from "./develop.ts";
import { type Answer, send } from "./http.ts";

developing();

const handler = `
import { Query, field, guard, ok, post, routes } from "@tenon/sdk";
const Which = Query("Which", { which: field.string() });
export default routes({
  report: post("/reports", { query: Which }, ({ query }) => {
    guard(query.which === "daily", 422, "no such report");
    return ok({ which: query.which });
  }),
});
`;

interface Run {
  readonly cause: string;
  readonly status: number | null;
  readonly error: string | null;
}

test("a job calls the module, by hand and every second, and is there after another start", {
  timeout: 300_000,
}, async () => {
  const at = await project("jobs", handler, `[server]\nport = ${await freePort()}\n`);
  let terminal = develop(at);
  let { services } = await served(terminal, "jobs");
  const ask = (method: string, path: string, json?: object): Promise<Answer> =>
    send(services, {
      method,
      path,
      ...(json && { headers: [["content-type", "application/json"]], body: JSON.stringify(json) }),
    });
  const history = async (name: string) => ((await ask("GET", `/cron/${name}/history`)).json() as { runs: Run[] }).runs;

  // By hand.
  const schedule = `0 ${hour} * * *`;
  const daily = { name: "daily", schedule, module: "jobs", path: "/reports?which=daily", method: "POST" };
  expect((await ask("POST", "/cron", daily)).status).toBe(201);
  expect((await ask("POST", "/cron/daily/trigger")).json()).toMatchObject({
    cause: "manual",
    status: 200,
    error: null,
  });
  expect(await history("daily")).toMatchObject([{ cause: "manual", status: 200, error: null }]);
  await terminal.sees(/POST \/run\/jobs\/reports 200/);

  // The history has the module's answer.
  await ask("POST", "/cron", { ...daily, name: "odd", path: "/reports?which=odd", enabled: false });
  expect((await ask("POST", "/cron/odd/trigger")).json()).toMatchObject({ status: 422 });

  // By the clock: six fields have seconds, and five fire at second 0.
  await ask("POST", "/cron", { ...daily, name: "tick", schedule: "* * * * * *" });
  await ask("POST", "/cron", { ...daily, name: "minute", schedule: "* * * * *" });
  // The newest run may not have ended.
  const ended = async () => (await history("tick")).filter(({ status, error }) => status !== null || error !== null);
  await expect.poll(async () => (await ended()).length).toBeGreaterThan(2);
  for (const run of await ended()) expect(run).toMatchObject({ cause: "schedule", status: 200, error: null });
  await expect
    .poll(() => history("minute"), { timeout: 75_000, interval: 500 })
    .toMatchObject([{ cause: "schedule", status: 200 }]);

  // Another start.
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);
  terminal = develop(at);
  ({ services } = await served(terminal, "jobs"));
  expect(await history("daily")).toHaveLength(1);
  expect((await ask("POST", "/cron/daily/trigger")).json()).toMatchObject({ status: 200 });
  const before = (await history("tick")).length;
  await expect.poll(async () => (await history("tick")).length).toBeGreaterThan(before);
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);
});
