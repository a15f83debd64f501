import type { ServerAnswer } from "./send.ts";
import type { Failed } from "./types.ts";

/** The result of a call: a success, or what went wrong. */
export function resultOf(answer: ServerAnswer): object {
  const { status, headers } = answer;
  return status >= 200 && status < 300 ? { ok: true, status, data: contentOf(answer), headers } : failureOf(answer);
}

/** The result of a call that has not succeeded, whatever the status. */
export function failureOf(answer: ServerAnswer): Failed {
  const { status, headers } = answer;
  const value = contentOf(answer);
  const isProblem = typeof value === "object" && value !== null && "title" in value;
  const problem = isProblem ? value : { type: "about:blank", title: `The server answered ${status}`, status };
  return { ok: false, status, problem, headers } as Failed;
}

/** The parsed value of JSON, else the text; `undefined` when there is none. */
function contentOf({ headers, text }: ServerAnswer): unknown {
  if (text === "") return undefined;
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers.get("content-type") ?? "") ? JSON.parse(text) : text;
}
