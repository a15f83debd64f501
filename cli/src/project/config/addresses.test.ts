import { describe, expect, test } from "vitest";
import { Runtime } from "../../embed/runtime.ts";
import { hasPassword, sidecarProblem } from "./addresses.ts";

const good = [
  "http://db:5432",
  "http://db",
  "http://127.0.0.1:1",
  "http://[::1]:8080",
  "http://db.internal:65535/",
  "unix:///run/db.sock",
  "unix:///a b",
];
const bad = [
  "",
  "db",
  "db:5432",
  "https://db",
  "postgres://db",
  "http://",
  "http://:80",
  "http://db:0",
  "http://db:65536",
  "http://db:x",
  "http://user:password@db",
  "http://db/path",
  "http://db?a=b",
  "http://d b",
  "unix://run/db.sock",
  "unix://",
  "unix:///",
  "UNIX:///run/db.sock",
];

describe.each([...good.map((address) => [address, true] as const), ...bad.map((address) => [address, false] as const)])(
  "%j",
  (address, fits) => {
    test("the file's rule", () => {
      expect(sidecarProblem(address) === undefined).toBe(fits);
    });

    test("the runtime's rule is the same", async () => {
      const created = Runtime.create({ modules: [], sidecars: { db: address }, cacheFolder: false });
      if (fits) await (await created).close();
      else await expect(created).rejects.toMatchObject({ code: "CONFIG" });
    });
  },
);

test.each([
  ["redis+sentinel://app:secret@one:26379,two:26379/mymaster/0", true],
  ["redis+sentinel://one,two/mymaster?sentinel_username=a&sentinel_password=secret", true],
  ["redis+cluster://:secret@one:6379,two:6379", true],
  ["redis+cluster://one:6379,two:6379", false],
  ["redis+sentinel://app@one/mymaster", false],
])("a password is seen in %s: %s", (url, has) => {
  expect(hasPassword(url)).toBe(has);
});
