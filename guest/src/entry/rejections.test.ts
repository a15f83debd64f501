/** Promises that a handler leaves behind, in the engine. */
import { expect, test } from "vitest";
import { startEngine } from "../../testing/engine.ts";

const file = new URL("../../../crates/engine/engine.wasm", import.meta.url);

/** Answers two requests, and returns what the engine logged during each. */
function logged(handle: string): readonly string[][] {
  const requests: string[][] = [];
  const engine = startEngine(
    file,
    `const answer = { status: 204, headers: [] };
    let count = 0;
    async function later() { await null; throw new TypeError("later " + count); }
    export const handler = { handle: ${handle} };`,
    { log: (text) => requests.at(-1)?.push(text) },
  );
  for (let count = 0; count < 2; count++) {
    requests.push([]);
    expect(engine.handle({}).status).toBe(204);
  }
  return requests;
}

const report = (count: number) =>
  expect.stringMatching(new RegExp(`^Unhandled promise rejection: TypeError: later ${count}\\n {4}at later \\(`));

test.each([
  ["at once", "() => { count++; later(); return answer; }"],
  ["by a promise", "async () => { count++; later(); return answer; }"],
])("are reported by the request that they belong to, each as one text, when it answers %s", (_, handle) => {
  expect(logged(handle)).toEqual([[report(1)], [report(2)]]);
});

test("an exception is one text with its stack", () => {
  const texts: string[] = [];
  const engine = startEngine(file, 'export const handler = { handle() { throw new Error("thrown"); } };', {
    log: (text) => texts.push(text),
  });
  expect(engine.handle({}).status).toBe(500);
  expect(texts).toEqual([expect.stringMatching(/^Uncaught Error: thrown\n {4}at handle \(/)]);
});
