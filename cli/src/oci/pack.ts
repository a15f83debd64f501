/** Splits components into an engine and a delta, for slim artifacts. */
import { fromNative, native } from "../native.ts";
import { blob } from "./artifact.ts";
import { ociLimits } from "./limits.ts";
import { type Packed, slimTypes } from "./slim.ts";

/**
 * Splits a component. The same arguments give the same blobs, and all components of one engine get the same engine.
 *
 * @param base a component with the same engine, whose memory is similar. Without one, or with one of another engine, the
 *   component's own engine is taken without its memory, and the delta is four times as large.
 * @returns undefined when that does not make it smaller, as for a component of another language
 */
export async function pack(component: Uint8Array, base?: Buffer): Promise<Packed | undefined> {
  if (component.length < ociLimits.wholeBytes || component.length > ociLimits.slimBytes) return undefined;
  const bytes = Buffer.from(component.buffer, component.byteOffset, component.byteLength);
  const { compressDelta, engineOf } = native();
  const own = await fromNative(engineOf(bytes));
  if (!own) return undefined;
  const isSame = base !== undefined && (await fromNative(engineOf(base)))?.equals(own) === true;
  const shared = isSame ? base : own;
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
