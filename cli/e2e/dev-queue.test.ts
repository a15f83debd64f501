/** A queue of `tenon dev`: a module sends, and its route handles the message, which is delivered again when it fails. */
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
  const terminal = develop(await project("letters", handler, config));
  const { base } = await served(terminal, "letters");
  const { pathname, origin } = new URL(base);
  const sent = await send(origin, { method: "POST", path: `${pathname}/send` });
  const { id } = sent.json() as { id: string };
  const handled = async () => (await send(origin, { method: "GET", path: `${pathname}/handled` })).json();
  const sent_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  await expect.poll(handled).toEqual({ id, body: { to: "Ann" }, key: "a", attempts: 2, sent_at });
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);
});
