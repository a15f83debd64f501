/** NaN has the same bits whatever made it. Processors differ in them, and a replay on another one compares memory to the bit. */
import { expect, test } from "vitest";
import { startEngine } from "../../../guest/testing/engine.ts";

const handler = `
import { utf8Encode } from "tenon:engine";
const zero = JSON.parse("0");
const huge = 1e308 * (10 + zero);
const made = {
  quotient: zero / zero,
  negated: -(zero / zero),
  difference: huge - huge,
  product: huge * zero,
  remainder: 1 % zero,
  power: (-8) ** (1 / 3 + zero),
  sum: NaN + zero,
  text: Number("x"),
  sqrt: Math.sqrt(zero - 1),
  log: Math.log(zero - 1),
  acos: Math.acos(2 + zero),
  atan2: Math.atan2(zero / zero, 1),
  hypot: Math.hypot(zero / zero, 1),
  max: Math.max(zero / zero, 1),
  fround: Math.fround(-(zero / zero)),
  trunc: Math.trunc(-(zero / zero)),
  read: new Float64Array(new BigUint64Array([0xfff8000000000123n]).buffer)[0],
  "read from 32 bits": new Float32Array(new Uint32Array([0xffc00123]).buffer)[0],
};
const bits = (array) => [...new Uint8Array(array.buffer)].reverse().map((byte) => byte.toString(16).padStart(2, "0")).join("");
const written = (value) => {
  const view = new DataView(new ArrayBuffer(12));
  view.setFloat64(0, value, true);
  view.setFloat32(8, value, true);
  return [
    bits(new Float64Array([value])),
    bits(Float64Array.of(1).fill(value)),
    bits(Float64Array.from([value], (each) => each)),
    bits(new Float64Array([value]).map((each) => each * 2)),
    bits(new Float32Array([value])),
    bits(view),
  ];
};
export const handler = {
  async handle() {
    const all = Object.entries(made).map(([name, value]) => [name, written(value)]);
    return { status: 200, headers: [], body: utf8Encode(JSON.stringify(all)) };
  },
};`;

test.each(["../engine.wasm", "../engine-full.wasm"])("%s", (file) => {
  const { body } = startEngine(new URL(file, import.meta.url), handler).handle({ method: "GET" });
  const all: [string, string[]][] = JSON.parse(new TextDecoder().decode(body as Uint8Array));
  expect(all).toHaveLength(18);
  const double = "7ff8000000000000";
  const float = "7fc00000";
  for (const [name, bits] of all)
    expect([name, ...bits]).toEqual([name, double, double, double, double, float, float + double]);
});
