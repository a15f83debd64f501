/** Problem details (RFC 9457) of the servers in this package. */
import { STATUS_CODES } from "node:http";

export const PROBLEM_TYPE = "application/problem+json";

/** The body of an error. */
export function problemOf(status: number, detail: string): object {
  return { type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail };
}
