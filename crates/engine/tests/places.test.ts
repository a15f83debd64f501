/** Places: a replay asks for them (wit/handler.wit). */
import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

const source = `
import { startCall, utf8Encode } from "tenon:engine";
function ask(path) {
  return startCall({ method: "GET", url: "http://a/" + path, headers: [], body: undefined, timeoutMs: 1000, maxBytes: 1000 });
}
export const handler = {
  async handle() {
    const time = Date.now();
    const number = Math.random();
    await ask("first");
    console.log("between");
    await Promise.resolve();
    await ask("second");
    setTimeout(() => {}, 0);
    return { status: 200, headers: [], body: utf8Encode(String(time > 0 && number < 1)) };
  },
};`;

test("a replay learns the place of each call of the host, and other requests write none", () => {
  const logged: string[] = [];
  const answer = () => ({ status: 200, headers: [], body: undefined });
  const started = startEngine(new URL("../engine.wasm", import.meta.url), source, {
    call: answer,
    log: (text) => void logged.push(text),
  });
  const bodies = [[], [[":places", ""]] as const, [["accept", ":places"]] as const].map((headers) => {
    const { body } = started.handle({ path: "/", headers });
    return [new TextDecoder().decode(body), logged.splice(0)] as const;
  });
  expect(bodies[0]).toEqual(["true", ["between\n"]]);
  expect(bodies[2]).toEqual(bodies[0]);
  const [text, lines] = bodies[1] ?? ["", []];
  expect(text).toBe("true");
  const places = lines.filter((line) => line.startsWith("\0place\n    at "));
  expect(lines.filter((line) => !places.includes(line))).toEqual(["between\n"]);
  // The lines of the bundle from which the host was called.
  const numbers = places.map((place) => {
    const frames = place.split("\n").filter((line) => line.includes(".js:"));
    return frames.map((frame) => Number(/:(\d+):\d+\)?$/.exec(frame)?.[1]));
  });
  expect(numbers.map((each) => each.at(-1))).toEqual([8, 9, 10, 11, 13, 14]);
  expect(numbers[2]).toEqual([4, 10]);
});
