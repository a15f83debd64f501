/**
 * Random values for packages that need some at top level, where there is no host. They are derived from the bundle, and
 * the build reports the caller, because they are the same in every instance. In requests, values come from the engine.
 */
import { isBuilding } from "../node/building.ts";

declare const TENON_SEED: string;

/** The methods, which are on the prototype in the engine. */
const methods = Object.getPrototypeOf(crypto) as typeof crypto;
const { getRandomValues, randomUUID } = methods;
let [a = 1, b = 2, c = 3, d = 4] = (TENON_SEED.match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 16));

/** Returns the next byte of the generator sfc32. */
function next(): number {
  const sum = (a + b + d) | 0;
  d = (d + 1) | 0;
  a = b ^ (b >>> 9);
  b = (c + (c << 3)) | 0;
  c = (c << 21) | (c >>> 11);
  c = (c + sum) | 0;
  return sum & 0xff;
}

function fill<View extends ArrayBufferView>(view: View): View {
  // The build reads this line (`explain.ts`).
  console.log(`tenon-random ${String(new Error().stack).replaceAll("\n", " ")}`);
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let i = 0; i < bytes.length; i++) bytes[i] = next();
  return view;
}

Object.assign(methods, {
  getRandomValues(this: typeof crypto, view: never) {
    return isBuilding() ? fill(view) : getRandomValues.call(this, view);
  },
  randomUUID(this: typeof crypto): string {
    if (!isBuilding()) return randomUUID.call(this);
    const bytes = fill(new Uint8Array(16));
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  },
});

const { random } = Math;
Math.random = () => (isBuilding() ? (fill(new Uint32Array(1))[0] as number) / 2 ** 32 : random());
