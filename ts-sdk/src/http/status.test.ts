import { STATUS_CODES } from "node:http";
import { expect, it } from "vitest";
import { reasonPhrase } from "./status.ts";

// RFC 9110 has other phrases than Node.
const RENAMED: Record<number, string> = { 413: "Content Too Large", 418: "I'm a teapot", 422: "Unprocessable Content" };
// Not in the IANA registry, or obsoleted there.
const UNKNOWN = new Set([509, 510]);

it("gives the phrase that the IANA registry has for each error status, and that of the class for others", () => {
  for (let status = 400; status <= 599; status++) {
    const known = RENAMED[status] ?? (UNKNOWN.has(status) ? undefined : STATUS_CODES[status]);
    expect([status, reasonPhrase(status)]).toEqual([status, known ?? (status < 500 ? "Client Error" : "Server Error")]);
  }
});
