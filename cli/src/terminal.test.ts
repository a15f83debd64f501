import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { formatBytes, Terminal, type Verbosity } from "./terminal.ts";

/** A terminal that writes into a text; on a screen, or into a file. */
function terminal(isTTY: boolean, verbosity: Verbosity = "normal") {
  let text = "";
  const stream = {
    isTTY,
    write(piece: string) {
      text += piece;
      return true;
    },
  } as unknown as NodeJS.WriteStream;
  return { terminal: new Terminal(verbosity, stream), text: () => text };
}

const all = (printed: ReturnType<typeof terminal>) => {
  printed.terminal.say("said");
  printed.terminal.detail("detail");
  printed.terminal.note("Serve", "here");
  printed.terminal.failure("it failed", "do this");
  return printed.text();
};

beforeEach(() => {
  for (const name of ["CI", "FORCE_COLOR", "NO_COLOR", "TERM"]) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

test("colours are for a screen that wants them", () => {
  expect(all(terminal(true))).toContain("\u001b[1;31merror:\u001b[0m it failed");
  const plain = "said\n       Serve here\nerror: it failed\nhint: do this\n";
  expect(all(terminal(false))).toBe(plain);
  vi.stubEnv("NO_COLOR", "1");
  expect(all(terminal(true))).toBe(plain);
  vi.stubEnv("NO_COLOR", undefined);
  vi.stubEnv("TERM", "dumb");
  expect(all(terminal(true))).toBe(plain);
});

test.each([
  [{ FORCE_COLOR: "1" }, true],
  [{ FORCE_COLOR: "" }, true],
  [{ FORCE_COLOR: "3", TERM: "dumb" }, true],
  [{ FORCE_COLOR: "0" }, false],
  [{ FORCE_COLOR: "false" }, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  [{ NO_COLOR: "" }, undefined],
] as const)("%j decides about colours, wherever they go", (environment, colored) => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  for (const isTTY of [true, false]) expect(all(terminal(isTTY)).includes("\u001b[")).toBe(colored ?? isTTY);
});

test("quiet leaves failures, verbose adds details", () => {
  expect(all(terminal(false, "quiet"))).toBe("error: it failed\nhint: do this\n");
  expect(all(terminal(false, "verbose"))).toContain("detail\n");
});

test("a step is one line in a file", async () => {
  const printed = terminal(false);
  expect(
    await printed.terminal.step(
      "Build",
      "demo",
      async () => 3,
      (bytes) => `(${bytes} B)`,
    ),
  ).toBe(3);
  expect(printed.text()).toMatch(/^ {7}Build demo \(3 B\) 0\.0 s\n$/);
});

test.each([
  ["quiet" as const, {}],
  ["normal" as const, { TERM: "dumb" }],
  ["normal" as const, { CI: "true" }],
])("nothing moves: %s %j", async (verbosity, environment) => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const printed = terminal(true, verbosity);
  await printed.terminal.step("Build", "demo", async () => {});
  expect(printed.text()).not.toMatch(/\r/);
});

test("on a screen the time passes, and what is said meanwhile stands above it", async () => {
  vi.stubEnv("NO_COLOR", "1");
  vi.useFakeTimers();
  const printed = terminal(true);
  let finish = () => {};
  const step = printed.terminal.step(
    "Build",
    "demo",
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  await vi.advanceTimersByTimeAsync(1200);
  printed.terminal.say("meanwhile");
  finish();
  await step;
  const pieces = printed.text().split("\r\u001b[K");
  expect(pieces).toContain("       Build demo 1.2 s");
  expect(pieces).toContain("meanwhile\n");
  expect(pieces.at(-1)).toBe("       Build demo 1.2 s\n");
});

test("a step that fails leaves no line behind", async () => {
  vi.stubEnv("NO_COLOR", "1");
  const printed = terminal(true);
  await expect(printed.terminal.step("Build", "demo", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(printed.text().endsWith("\r\u001b[K")).toBe(true);
});

test("sizes in the unit that a person would choose", () => {
  expect([0, 1023, 1024, 28_058, 12_058_624].map(formatBytes)).toEqual([
    "0 B",
    "1023 B",
    "1.0 KiB",
    "27.4 KiB",
    "11.5 MiB",
  ]);
});
