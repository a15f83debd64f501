import { afterEach, expect, it } from "vitest";
import { environmentKey } from "../abi.ts";
import { platform } from "../platform.ts";
import { fetchHandler } from "./fetch-handler.ts";

afterEach(() => {
  platform[environmentKey] = undefined;
});

function seen(...entries: [string, string][]): Record<string, unknown> {
  platform[environmentKey] = () => entries;
  let found: Record<string, unknown> = {};
  const fetch = (_request: object, env: object) => {
    const own = env as Record<string, string>;
    found = {
      all: { ...own },
      keys: Object.keys(own).sort(),
      key: own["KEY"],
      has: "KEY" in own,
      absent: own["toString"],
    };
    return new Response();
  };
  void fetchHandler({ fetch: fetch as never })({ method: "GET", pathWithQuery: "/", headers: [] });
  return found;
}

it("gives an app its variables and its secrets, and no facts of the request", () => {
  const all = { KEY: "secret", MODE: "fast" };
  const found = seen(["MODE", "fast"], ["TENON_SECRET_KEY", "secret"], ["TENON_REQUEST_IP", "10.0.0.1"]);
  expect(found).toEqual({ all, keys: ["KEY", "MODE"], key: "secret", has: true, absent: undefined });
});

it("prefers a secret to a variable of its name", () => {
  expect(seen(["KEY", "variable"], ["TENON_SECRET_KEY", "secret"])["key"]).toBe("secret");
  expect(seen(["TENON_SECRET_KEY", "secret"], ["KEY", "variable"])["key"]).toBe("secret");
  expect(seen(["MODE", "fast"])["key"]).toBeUndefined();
});
