import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { systemReason, TenonError } from "./errors.ts";
import { fromNative } from "./native.ts";

/** An error as the package gets it where it runs in a realm of its own: in Jest with ES modules, in Vitest's vmThreads. */
function foreign(message: string, code?: string): Error {
  const error = runInNewContext(`Object.assign(new Error(message), code === undefined ? {} : { code })`, {
    message,
    code,
  }) as Error;
  expect(error instanceof Error).toBe(false);
  return error;
}

test("failures of the addon keep their code, their hint and their cause in any realm", async () => {
  for (const error of [
    foreign("taken", "ADDRESS_IN_USE"),
    Object.assign(new Error("taken"), { code: "ADDRESS_IN_USE" }),
  ]) {
    const failure = await fromNative(Promise.reject(error), (code) => `hint for ${code}`).catch((thrown) => thrown);
    expect(failure).toBeInstanceOf(TenonError);
    expect(failure).toMatchObject({
      code: "ADDRESS_IN_USE",
      message: "taken",
      hint: "hint for ADDRESS_IN_USE",
      cause: error,
    });
  }
});

test("an error without a code is thrown as it is", async () => {
  for (const error of [foreign("bug"), new Error("bug")]) {
    await expect(fromNative(Promise.reject(error))).rejects.toBe(error);
  }
});

test("what the system refused reads the same in any realm", () => {
  expect(systemReason(foreign("EMFILE: too many open files, open 'a'", "EMFILE"))).toBe("too many open files");
});
