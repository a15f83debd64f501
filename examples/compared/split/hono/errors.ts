import { STATUS_CODES } from "node:http";
import { zValidator } from "@hono/zod-validator";
import type { ErrorHandler, NotFoundHandler, ValidationTargets } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ZodType } from "zod";

function problem(status: number, members: object, headers?: Headers): Response {
  const body = JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status, ...members });
  const answer = new Response(body, { status, headers });
  answer.headers.set("content-type", "application/problem+json");
  return answer;
}

/** Checks an input. The answer to an invalid one lists all errors. */
export const valid = <Target extends keyof ValidationTargets, Schema extends ZodType>(target: Target, schema: Schema) =>
  zValidator(target, schema, (result) => {
    if (result.success) return;
    const errors = result.error.issues.map(({ path, message }) => ({
      in: target === "json" ? "body" : target === "param" ? "path" : target,
      pointer: `#${path.map((key) => `/${String(key)}`).join("")}`,
      detail: message,
    }));
    return problem(400, { detail: "The input is not valid.", errors });
  });

export const notFound: NotFoundHandler = () => problem(404, {});

export const onError: ErrorHandler = (thrown) => {
  if (thrown instanceof HTTPException) {
    return problem(thrown.status, { detail: thrown.message }, thrown.res?.headers);
  }
  // biome-ignore lint/suspicious/noConsole: the log of a server
  console.error(thrown);
  return problem(500, {});
};
