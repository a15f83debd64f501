import fc from "fast-check";
import { afterAll, expect, it, vi } from "vitest";
import { checkResponse, type RawHeader, type RawRequest } from "../../src/index.ts";
import app from "../conformance/app.ts";
import { checkWellFormed } from "../conformance/check-row.ts";
import { table } from "../conformance/table.ts";

const reported = vi.spyOn(console, "error").mockImplementation(() => {});
afterAll(() => reported.mockRestore());

const known = [...new Set(table.map(({ path }) => path))];
const method = fc.oneof(fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"), fc.string());
const path = fc.oneof(
  fc.constantFrom(...known),
  fc.tuple(fc.constantFrom(...known), fc.string({ unit: "binary" })).map((parts) => parts.join("")),
  fc.string({ unit: "binary" }).map((text) => `/${text}`),
  fc
    .array(
      fc.constantFrom("/", "?", "%", "%2F", "%zz", "{", "}", "..", "a", "&", "=", "v", "route", "literal", "__proto__"),
    )
    .map((parts) => parts.join("")),
);
const json = fc.oneof(
  fc.json(),
  fc.constantFrom(...table.flatMap(({ body }) => (typeof body === "string" ? [body] : []))),
);
const body = fc.option(
  fc.oneof(
    json.map((text) => new TextEncoder().encode(text)),
    fc.uint8Array({ maxLength: 200 }),
  ),
  { nil: undefined },
);
const name = fc.oneof(
  fc.constantFrom("content-type", "host", "x-many", "X-One", "content-length", "__proto__"),
  fc.string(),
);
const headers = fc.array(fc.tuple(name, fc.uint8Array({ maxLength: 20 })), { maxLength: 4 });

it("answers any request of any bytes with a well-formed response", async () => {
  await fc.assert(
    fc.asyncProperty(
      method,
      path,
      headers,
      body,
      fc.boolean(),
      async (verb, pathWithQuery, given, bytes, checkResponses) => {
        const request: RawRequest = {
          method: verb,
          pathWithQuery,
          headers: given as RawHeader[],
          ...(bytes && { body: bytes }),
        };
        const answer = await app.handle(request, checkResponses ? { checkResponse } : {});
        checkWellFormed(answer);
        if (verb === "HEAD") expect(answer.body).toBeUndefined();
      },
    ),
    { numRuns: 5000 },
  );
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(ownNames);
});

/** The initial members of all objects' prototype: nothing may have been added. */
const ownNames = Object.getOwnPropertyNames(Object.prototype).sort();
