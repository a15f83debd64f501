/** GitHub's signed webhooks in, messages to a chat's API out. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";

const env = z.object({ GITHUB: z.string(), CHAT_URL: z.url(), CHAT_KEY: z.string() }).parse(process.env);

const IssueEvent = z.object({
  action: z.string(),
  issue: z.object({ title: z.string(), html_url: z.url() }),
  repository: z.object({ full_name: z.string() }),
});

const github = createMiddleware(async (c, next) => {
  const body = Buffer.from(await c.req.arrayBuffer());
  const wanted = Buffer.from(`sha256=${createHmac("sha256", env.GITHUB).update(body).digest("hex")}`);
  const given = Buffer.from(c.req.header("x-hub-signature-256") ?? "");
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new HTTPException(401, { message: "not signed" });
  }
  await next();
});

async function send(delivery: string, text: string): Promise<void> {
  const answer = await fetch(`${env.CHAT_URL}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: env.CHAT_KEY, "idempotency-key": delivery },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(5000),
  }).catch((cause) => {
    throw new HTTPException(502, { message: "the chat cannot be reached", cause });
  });
  if (!answer.ok) throw new HTTPException(502, { message: "the chat did not take the message" });
}

export default new Hono().post("/github/issues", github, zValidator("json", IssueEvent), async (c) => {
  const delivery = c.req.header("x-github-delivery");
  if (delivery === undefined) throw new HTTPException(400, { message: "the delivery has no id" });
  const { action, issue, repository } = c.req.valid("json");
  if (action === "opened") await send(delivery, `${repository.full_name}: ${issue.title} ${issue.html_url}`);
  return c.body(null, 202);
});
