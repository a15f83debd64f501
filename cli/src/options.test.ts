import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { TenonError } from "./errors.ts";
import { parseHost, parsePort, suggestPort } from "./options.ts";

test("a port is a whole number up to 65535", () => {
  expect(["0", "80", "65535"].map(parsePort)).toEqual([0, 80, 65_535]);
  for (const text of ["", "-1", "65536", "80.5", "0x50", "1e3", " 80", "http"])
    expect(() => parsePort(text), text).toThrow(InvalidArgumentError);
});

test("a host is not empty", () => {
  expect(parseHost("::1")).toBe("::1");
  for (const text of ["", " "]) expect(() => parseHost(text)).toThrow(InvalidArgumentError);
});

test.each([
  ["ADDRESS_IN_USE", "another program listens there; choose another port with --port"],
  ["LISTEN", "choose an address of this machine with --host, or another port with --port"],
  ["CONFIG", undefined],
] as const)("a failure to listen with the code %s has a hint: %s", async (code, hint) => {
  const listening = Promise.reject(new TenonError(code, "cannot listen"));
  const error = await suggestPort(listening).catch((error: TenonError) => error);
  expect([error.code, error.message, error.hint]).toEqual([code, "cannot listen", hint]);
});
