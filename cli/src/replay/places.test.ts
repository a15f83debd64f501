/** Stacks of recordings, which a stranger may have made, with places in the sources. */
import { expect, test } from "vitest";
import { framesOf, mapped } from "./places.ts";
import type { TapeView } from "./tapes.ts";

/** Maps line 1 of the bundle to line 3 of `src/a.ts`, in a project whose entry is in the folder `../`. */
const map = { sources: ["../tenon-entry", "../src/a.ts"], mappings: "ACEA" };

const log = (text: string) => ({ kind: "log", text });
const viewOf = (...events: TapeView["events"]) => ({ events }) as unknown as TapeView;

test("the frames of a log have the places of the sources, and other texts stay", () => {
  const frame = "    at read (app.js:1:9)";
  const view = viewOf(log(`log no\n${frame}\n    at b (app.js:7:1)`), { kind: "request", text: `request\n${frame}` });
  const { events } = mapped(view, framesOf(view), map);
  expect(events.map(({ text }) => text)).toEqual([
    "log no\n    at read (src/a.ts:3:1)\n    at b (app.js:7:1)",
    `request\n${frame}`,
  ]);
});

test("a log of a stranger has few short frames", () => {
  const many = Array.from({ length: 5_000 }, (_, at) => log(`log\n    at f (app.js:${at + 1}:1)`));
  const long = log(`log\n    at ${"(a:".repeat(200)}1:1)`);
  const frames = framesOf(viewOf(long, ...many, ...many));
  expect([frames.length, frames[0]]).toEqual([1_000, "    at f (app.js:1:1)"]);
});
