import { expect, it, vi } from "vitest";
import { runTopLevel } from "./run.ts";

it("gives what it gives, and throws what it throws", () => {
  expect(runTopLevel(() => 7)).toBe(7);
  expect(runTopLevel(() => undefined)).toBeUndefined();
  const thrown = new TypeError("x");
  expect(() =>
    runTopLevel(() => {
      throw thrown;
    }),
  ).toThrow(thrown);
});

it("ends what does not end", () => {
  expect(() =>
    runTopLevel(() => {
      for (;;);
    }, 50),
  ).toThrow("the module's top level runs for more than 0.05 s");
});

it("leaves standard output alone, and everything as it was", () => {
  const before = [console, setTimeout, setInterval, setImmediate];
  const [out, error] = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockImplementation(() => true),
  );
  runTopLevel(() => {
    // biome-ignore lint/suspicious/noConsole: its destination is tested
    console.log("said");
    for (const start of [setTimeout, setInterval, setImmediate]) expect(start(() => {}, 0)).toBe(0);
  });
  expect(error?.mock.calls.map(([text]) => text)).toEqual(["said\n"]);
  expect(out).not.toHaveBeenCalled();
  out?.mockRestore();
  error?.mockRestore();
  expect([console, setTimeout, setInterval, setImmediate]).toEqual(before);
});
