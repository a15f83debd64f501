import { createHash } from "node:crypto";
import { defaultCacheFolder } from "../cache-folder.ts";
import { type Artifact, checkConfig, type Descriptor, digestOf, mediaTypes, parseManifest } from "./artifact.ts";
import { assemble, assembleBeside } from "./assemble.ts";
import { changed, pullBlob, requestBlob } from "./blobs.ts";
import { readVerifyKey } from "./keys.ts";
import { ociLimits } from "./limits.ts";
import { formatReference, nameOf, parseReference, type Reference } from "./reference.ts";
import { Registry, type RegistryOptions } from "./registry.ts";
import { checkSignature } from "./signature.ts";
import { parseSlim } from "./slim.ts";
import { Store } from "./store.ts";

/** Options for pulling. */
export interface PullOptions extends RegistryOptions {
  /** Cache folder; the user's by default. */
  readonly cacheFolder?: string;
  /** File of a public key in PEM. One of the artifact's signatures must be by this key. */
  readonly verifyKey?: string | undefined;
  /** Gets the reason when a component is pulled as a whole although its engine is published as well. Printed by default. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** A pulled component. */
export interface Pulled {
  /** Its file in the cache, which is named after the repository: `oci://registry/team/shop:1.0` is `…/shop.wasm`. */
  readonly path: string;
  /** Digest of the manifest. */
  readonly digest: string;
}

/**
 * Pulls the component of a reference into the cache. Verifies manifest, configuration and component by digest and size,
 * from the registry as well as from the cache. A reference with a digest needs no registry when it is in the cache. A signature is checked before the
 * component is pulled.
 *
 * @throws TenonError `USAGE` for an invalid reference, `CONFIG` for an invalid key, `REGISTRY` for an error of the registry, `WRITE` for the cache
 */
export async function pullModule(text: string, options: PullOptions = {}): Promise<Pulled> {
  const reference = parseReference(text);
  const { verifyKey: file } = options;
  const signer = file === undefined ? undefined : { file, key: await readVerifyKey(file) };
  const store = new Store(options.cacheFolder ?? defaultCacheFolder(options.environment));
  const registry = new Registry(reference, "pull", options);
  try {
    const { digest, bytes } = await manifestOf(reference, registry, store);
    if (signer !== undefined) await checkSignature(digest, reference, signer, registry, store);
    const where = formatReference(reference);
    const slim = parseSlim(bytes, where);
    const artifact = slim ?? parseManifest(bytes, where);
    const { layer } = artifact;
    await configOf(artifact, where, registry, store);
    const name = nameOf(reference);
    if (!(await store.hasComponent(layer, name))) {
      const warn = options.warn ?? ((message) => process.emitWarning(message));
      const assembled =
        slim === undefined
          ? await assembleBeside({ digest, layer, reference }, registry, store, warn)
          : await assemble(slim, where, registry, store);
      if (assembled === undefined) await pullWhole(layer, name, registry, store);
      else await store.writeComponent(layer, name, assembled);
    }
    // Written last, so that an artifact with a manifest in the cache is complete.
    if ((await store.read(digest, ociLimits.manifestBytes)) === undefined) await store.write(digest, bytes);
    return { path: store.componentFile(artifact.layer, name), digest };
  } finally {
    await registry.close();
  }
}

async function manifestOf(
  reference: Reference,
  registry: Registry,
  store: Store,
): Promise<{ readonly digest: string; readonly bytes: Buffer }> {
  const wanted = reference.digest;
  const kept = wanted === undefined ? undefined : await store.read(wanted, ociLimits.manifestBytes);
  if (wanted !== undefined && kept !== undefined) return { digest: wanted, bytes: kept };
  const answer = await registry.send(`manifests/${wanted ?? reference.tag}`, {
    method: "GET",
    // An index is accepted only so that the error can name it.
    headers: { accept: `${mediaTypes.manifest}, application/vnd.oci.image.index.v1+json;q=0.5` },
  });
  if (answer.status !== 200) throw await registry.unexpected(answer, `pull ${formatReference(reference)}`);
  const bytes = await registry.read(answer, ociLimits.manifestBytes, "a manifest");
  const digest = digestOf(bytes);
  for (const said of [wanted, answer.header("docker-content-digest")]) {
    if (said?.startsWith("sha256:") && said !== digest) throw changed(registry, "a manifest");
  }
  return { digest, bytes };
}

async function configOf(artifact: Artifact, where: string, registry: Registry, store: Store): Promise<void> {
  const { config } = artifact;
  let bytes = await store.read(config.digest, ociLimits.configBytes);
  if (bytes === undefined) {
    bytes = await pullBlob(config, registry, "a configuration");
    await store.write(config.digest, bytes);
  }
  checkConfig(bytes, artifact, where);
}

async function pullWhole(layer: Descriptor, name: string, registry: Registry, store: Store): Promise<void> {
  const answer = await requestBlob(layer, registry, ociLimits.transferMs);
  await store.writeComponent(layer, name, async function* () {
    const hash = createHash("sha256");
    let length = 0;
    for await (const piece of registry.pieces(answer, layer.size, "the component")) {
      hash.update(piece);
      length += piece.length;
      yield piece;
    }
    if (length !== layer.size || `sha256:${hash.digest("hex")}` !== layer.digest)
      throw changed(registry, "a component");
  });
}
