/** Splits components into an engine and a delta, for slim artifacts. */
import { fromNative, native } from "../native.ts";
import { blob } from "./artifact.ts";
import { ociLimits } from "./limits.ts";
import { type Packed, slimTypes } from "./slim.ts";

/**
 * Splits a component. The same component gives the same blobs, and all components of one engine get the same engine.
 *
 * @returns undefined when that does not make it smaller, as for a component of another language
 */
export async function pack(component: Uint8Array): Promise<Packed | undefined> {
  if (component.length < ociLimits.wholeBytes || component.length > ociLimits.slimBytes) return undefined;
  const bytes = Buffer.from(component.buffer, component.byteOffset, component.byteLength);
  const { compressDelta, engineOf } = native();
  const shared = await fromNative(engineOf(bytes));
  if (!shared) return undefined;
  const [engine, delta] = await Promise.all([
    fromNative(compressDelta(shared, Buffer.alloc(0))),
    fromNative(compressDelta(bytes, shared)),
  ]);
  const isSmaller = engine.length + delta.length < component.length;
  const fits = engine.length <= ociLimits.packedBytes && delta.length <= ociLimits.packedBytes;
  return isSmaller && fits
    ? { engine: blob(slimTypes.engine, engine), delta: blob(slimTypes.delta, delta) }
    : undefined;
}
