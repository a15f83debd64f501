import { describe, expect, it } from "vitest";
import { parseAllow, splitPath } from "./allow.ts";

const allows = (rule: string, path: string) => parseAllow(rule).matches("GET", splitPath(path) ?? []);

describe("a rule", () => {
  it("with a star stands for one segment that is not empty", () => {
    expect(allows("GET /v1/customers/*", "/v1/customers/cus_1")).toBe(true);
    expect(allows("GET /v1/*/cards", "/v1/cus_1/cards")).toBe(true);
    for (const path of [
      "/v1/customers/",
      "/v1/customers",
      "/v1/customers//",
      "/v1/customers/;x",
      "/v1/customers/%3bx",
    ]) {
      expect([path, allows("GET /v1/customers/*", path)]).toEqual([path, false]);
    }
    expect(allows("GET /v1/*/cards", "/v1//cards")).toBe(false);
    expect(allows("GET /*/**", "//v1")).toBe(false);
    expect(allows("GET /*", "/")).toBe(false);
  });

  it("with two stars at its end stands for all that follows", () => {
    for (const path of ["/v1/", "/v1/a", "/v1/a/b/"]) expect([path, allows("GET /v1/**", path)]).toEqual([path, true]);
    expect(allows("GET /v1/**", "/v1")).toBe(false);
    expect(allows("GET /**", "/")).toBe(true);
  });
});
