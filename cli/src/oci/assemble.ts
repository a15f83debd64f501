/** Puts components together from an engine and a delta. Both are hostile input, so only the digest of the result counts. */
import { TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { type Descriptor, digestOf, mediaTypes } from "./artifact.ts";
import { pullBlob } from "./blobs.ts";
import { ociLimits } from "./limits.ts";
import { formatReference, type Reference } from "./reference.ts";
import type { Registry } from "./registry.ts";
import { parseSlim, type SlimArtifact, slimTag } from "./slim.ts";
import type { Store } from "./store.ts";

/** A whole artifact, beside which a slim one may stand. */
interface Whole {
  /** Digest of its manifest. */
  readonly digest: string;
  readonly layer: Descriptor;
  readonly reference: Reference;
}

/** Engines that are being pulled, by registry and digest: modules that are pulled at once share one request. */
const pulling = new Map<string, Promise<Buffer>>();

/**
 * Puts the component of a whole artifact together from the slim one beside it, when that takes fewer bytes.
 *
 * @param warn gets the reason when there is a slim artifact that cannot be used
 * @returns undefined when the component has to be pulled as a whole
 */
export async function assembleBeside(
  whole: Whole,
  registry: Registry,
  store: Store,
  warn: (message: string) => void,
): Promise<Buffer | undefined> {
  const { layer, digest, reference } = whole;
  if (layer.size < ociLimits.wholeBytes || layer.size > ociLimits.slimBytes) return undefined;
  const where = formatReference({
    registry: reference.registry,
    repository: reference.repository,
    tag: slimTag(digest),
  });
  try {
    const slim = await slimBeside(digest, where, registry);
    if (slim === undefined) return undefined;
    if (slim.subject !== digest || slim.layer.digest !== layer.digest || slim.layer.size !== layer.size) {
      throw new TenonError("REGISTRY", `${where} belongs to another component`);
    }
    const kept = await store.read(slim.engine.digest, ociLimits.packedBytes);
    const bytes = slim.delta.size + (kept === undefined ? slim.engine.size : 0);
    return bytes < layer.size ? await assemble(slim, where, registry, store) : undefined;
  } catch (error) {
    if (!(error instanceof TenonError)) throw error;
    warn(`the whole component is pulled, because ${error.message}`);
    return undefined;
  }
}

/**
 * Puts the component of a slim artifact together. An engine that is in the cache is not pulled again.
 *
 * @throws TenonError `REGISTRY` when the result is not the component that the manifest names
 */
export async function assemble(
  { layer, engine, delta }: SlimArtifact,
  where: string,
  registry: Registry,
  store: Store,
): Promise<Buffer> {
  const key = `${registry.name} ${engine.digest}`;
  const kept = await store.read(engine.digest, ociLimits.packedBytes);
  const running = kept ?? pulling.get(key) ?? pullBlob(engine, registry, "an engine");
  if (kept === undefined) pulling.set(key, Promise.resolve(running));
  try {
    const packed = await running;
    const difference = await pullBlob(delta, registry, "a delta");
    const base = await expand(packed, Buffer.alloc(0), ociLimits.slimBytes, `the engine of ${where}`);
    const component = await expand(difference, base, layer.size, `the delta of ${where}`);
    if (digestOf(component) !== layer.digest) {
      throw new TenonError("REGISTRY", `the engine and the delta of ${where} give another component`, HINT);
    }
    // Kept only now, so that a registry cannot fill the cache with other bytes.
    if (kept === undefined) await store.write(engine.digest, packed);
    return component;
  } finally {
    // Until now, because others would request an engine again that is not in the cache yet.
    if (kept === undefined) pulling.delete(key);
  }
}

const HINT = "publish it again, and do not use this registry if that fails";

/** Returns undefined when there is none. */
async function slimBeside(digest: string, where: string, registry: Registry): Promise<SlimArtifact | undefined> {
  const answer = await registry.send(`manifests/${slimTag(digest)}`, {
    method: "GET",
    headers: { accept: mediaTypes.manifest },
  });
  if (answer.status === 404) {
    answer.discard();
    return undefined;
  }
  if (answer.status !== 200) throw await registry.unexpected(answer, `read ${where}`);
  const slim = parseSlim(await registry.read(answer, ociLimits.slimManifestBytes, "a manifest"), where);
  if (slim === undefined) throw new TenonError("REGISTRY", `${where} is no slim artifact`);
  return slim;
}

async function expand(packed: Buffer, base: Buffer, limit: number, what: string): Promise<Buffer> {
  try {
    return await fromNative(native().expandDelta(packed, base, limit));
  } catch (error) {
    if (!(error instanceof TenonError && error.code === "DELTA")) throw error;
    throw new TenonError("REGISTRY", `${what} cannot be expanded: ${error.message}`, HINT, error);
  }
}
