/** A queue of `tenon dev`: a module sends, and its route handles the message, which is delivered again when it fails. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { develop, developing, project, served } from "./develop.ts";
import { send } from "./http.ts";

developing();

const handler = `
import { cache, get, noContent, ok, post, queue, routes } from "@tenon/sdk";

export default routes({
  send: post("/send", async () => ok({ id: await queue("mail").send({ to: "Ann" }, { key: "a" }) })),
  mail: post("/jobs/mail", { status: 204 }, async (_, req) => {
    const message = req.json();
    if (message.attempts === 1) throw new Error("not yet");
    await cache.set("handled", { json: message });
    return noContent();
  }),
  handled: get("/handled", async () => ok((await cache.get("handled"))?.json() ?? null)),
});
`;

test("a message is handled by the route that tenon.toml names", { timeout: 300_000 }, async () => {
  const config = `[server]\nport = ${await freePort()}\n[queues.mail]\nmodule = "letters"\npath = "/jobs/mail"\n`;
  const at = await project("letters", handler, config);
  const terminal = develop(at);
  const { base } = await served(terminal, "letters");
  const { pathname, origin } = new URL(base);
  const handled = async () => (await send(origin, { method: "GET", path: `${pathname}/handled` })).json();
  const sent_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  const isHandled = async () => {
    const { id } = (await send(origin, { method: "POST", path: `${pathname}/send` })).json() as { id: string };
    await expect.poll(handled).toEqual({ id, body: { to: "Ann" }, key: "a", attempts: 2, sent_at });
  };
  await isHandled();
  // The consumers go on with another configuration.
  await writeFile(join(at, "tenon.toml"), `[project]\nname = "letters"\n${config}[env]\nMODE = "other"\n`);
  await terminal.sees(/Reload tenon\.toml/);
  await isHandled();
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);
});
