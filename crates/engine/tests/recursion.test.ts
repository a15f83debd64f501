import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

const source = readFileSync(new URL("recursion.mjs", import.meta.url), "utf8");
const engine = startEngine(
  new URL("../engine.wasm", import.meta.url),
  `${source}
const bytes = (text) => Uint8Array.from(text, (each) => each.charCodeAt(0) & 0x7f);
export const handler = {
  handle: ({ pathWithQuery: path }) => ({ status: 200, headers: [], body: bytes(path === "/" ? "[" + Object.keys(cases).map((name) => JSON.stringify(encodeURIComponent(name))) + "]" : run(decodeURIComponent(path))) }),
};`,
);

const ask = (path: string) => {
  const { status, body } = engine.handle({ path });
  if (status !== 200) throw new Error(engine.printed());
  return new TextDecoder().decode(body);
};

const names = JSON.parse(ask("/")) as string[];

test.each(names)("%s", (name) => {
  expect(ask(name)).toMatch(/^(?:returned$|RangeError: )/);
});
