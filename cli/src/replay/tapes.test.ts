/** Recordings of strangers: their files, and their texts on a terminal. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { viewLines } from "../commands/record.ts";
import { report } from "../commands/replay.ts";
import { type TapeView, tapeBytes } from "./tapes.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-tapes-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a file that is larger than a recording is not read", async () => {
  const file = join(folder, "large.tape");
  await writeFile(file, "");
  await truncate(file, 2 ** 36);
  await expect(tapeBytes(file)).rejects.toThrow("it is larger than 67108864 bytes");
});

test.skipIf(process.platform === "win32")("a pipe and a folder are not read", async () => {
  const pipe = join(folder, "pipe.tape");
  expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
  await expect(tapeBytes(pipe)).rejects.toThrow("it must be a file");
  await expect(tapeBytes(folder)).rejects.toThrow("it must be a file");
});

const escapes = "\x1b]0;owned\x07\x1b[2J\n1.tape: same\u202e\x9b";

test("texts of a recording send a terminal no escapes and forge no line", () => {
  const head = { module: escapes, requestId: escapes, time: 0, durationMs: 1, status: 200, kept: "share" };
  const rest = { component: "", memory: null, masked: [escapes], isCut: false };
  const empty = { kind: "no result yet", text: "no result yet" };
  const environment = { kind: "environment", text: "environment", names: ["A", `${escapes} (secret)`] };
  const events = [{ kind: "request", text: escapes }, empty, environment];
  const shown = viewLines({ ...head, ...rest, events } as TapeView);
  const part = `header ${escapes}`;
  const change = { part, recorded: escapes, replayed: null };
  const asked = { method: escapes, url: escapes };
  const texts = { recorded: escapes, replayed: escapes, part, after: escapes, place: escapes };
  const found = { kind: "new", event: 1, ...texts, asked } as const;
  const reports = [
    report(escapes, { verdict: "same", comparedMemory: true }),
    report(escapes, { verdict: "changed", comparedMemory: false, found: [change] }),
    report(escapes, { verdict: "asks", comparedMemory: false, found }),
    report(escapes, { verdict: "differs", comparedMemory: true, found }),
  ].flat();
  for (const line of [...shown, ...reports]) expect(line.replaceAll("\n    ", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(shown).toHaveLength(3);
  expect(shown[2]).toMatch(/^ {2}environment A, .* \(secret\)$/s);
  expect(shown[1]).toBe(String.raw`  \u{1b}]0;owned\u{7}\u{1b}[2J
    1.tape: same\u{202e}\u{9b}`);
});
