import { expect, test } from "vitest";
import { isLocal, lookupElsewhere } from "./local.ts";

test("this machine has many addresses", () => {
  for (const host of [
    ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1", "127.1", "127.255.0.9", "0.0.0.0", "0"],
    ...["2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.0.0.1.", "169.254.169.254", "0.1.2.3"],
    ...["[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0.0.0.0]"],
    ...["[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[fe80::1]", "[febf::1]"],
    ...["[::ffff:169.254.169.254]", "[::ffff:0:0]", "[64:ff9b::7f00:1]"],
  ]) {
    expect([host, isLocal(new URL(`http://${host}/`).hostname)]).toEqual([host, true]);
  }
});

test("others are not this machine", () => {
  for (const host of [
    ...[
      "registry.example",
      "127.0.0.1.example",
      "localhost.example",
      "10.0.0.1",
      "192.168.0.1",
      "128.0.0.1",
      "1.1.1.1",
    ],
    ...["[::ffff:10.0.0.1]", "[fc00::1]", "[2001:db8::1]", "[64:ff9b::1.1.1.1]", "[fec0::1]"],
  ]) {
    expect([host, isLocal(new URL(`http://${host}/`).hostname)]).toEqual([host, false]);
  }
});

test("a name that leads to this machine is refused, unless it is the registry's", async () => {
  const resolve = (registry: string, hostname: string, all: boolean) =>
    new Promise((done, fail) =>
      lookupElsewhere(registry)(hostname, { all }, (error, found) => (error === null ? done(found) : fail(error))),
    );
  for (const all of [true, false]) {
    await expect(resolve("registry.example", "localhost", all)).rejects.toMatchObject({ code: "ERR_LOCAL_ADDRESS" });
    expect(await resolve("localhost", "localhost", all)).toBeTruthy();
  }
});
