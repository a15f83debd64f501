/**
 * Signatures in cosign's format: the artifact `sha256-<digest>.sig` beside the signed one has a layer for each signature, a
 * text that names the signed digest. The signature itself is an annotation of the layer.
 */
import type { KeyObject } from "node:crypto";
import { TenonError } from "../errors.ts";
import {
  type Blob,
  blob,
  type Descriptor,
  descriptor,
  descriptorOf,
  digestOf,
  jsonBlob,
  mediaTypes,
  parseObject,
} from "./artifact.ts";
import { isSigned, signed } from "./keys.ts";
import { ociLimits } from "./limits.ts";
import { formatReference, isDockerHub, type Reference } from "./reference.ts";
import type { Registry } from "./registry.ts";
import type { Store } from "./store.ts";

const LAYER = "application/vnd.dev.cosign.simplesigning.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const ANNOTATION = "dev.cosignproject.cosign/signature";
const TYPE = "cosign container image signature";

/** A layer of a signature artifact, with its annotations as they are. */
interface Layer extends Descriptor {
  readonly annotations: Readonly<Record<string, unknown>>;
}

/** The blobs of a signature artifact to push, and its tag. */
export interface SignatureArtifact {
  readonly tag: string;
  readonly blobs: readonly Blob[];
  readonly manifest: Blob;
}

/**
 * Signs a manifest. Signatures that the registry has are kept.
 *
 * @returns undefined when the registry has this signature
 * @throws TenonError `REGISTRY`
 */
export async function signatureOf(
  digest: string,
  reference: Reference,
  key: KeyObject,
  registry: Registry,
): Promise<SignatureArtifact | undefined> {
  const payload = blob(
    LAYER,
    Buffer.from(
      JSON.stringify({
        critical: {
          identity: { "docker-reference": identityOf(reference) },
          image: { "docker-manifest-digest": digest },
          type: TYPE,
        },
        optional: null,
      }),
    ),
  );
  const others = await layersOf(digest, reference, registry);
  const isOurs = (layer: Layer) => layer.digest === payload.digest && isSigned(payload.bytes, signatureIn(layer), key);
  if (others.some(isOurs)) return undefined;
  if (others.length >= ociLimits.signatures) {
    throw registry.failure(
      `has ${others.length} signatures of ${digest}`,
      "remove some; the limit is the number of them",
    );
  }
  const own = {
    ...descriptorOf(payload),
    annotations: { [ANNOTATION]: signed(payload.bytes, key).toString("base64") },
  };
  const layers: readonly Layer[] = [...others, own];
  const config = jsonBlob(CONFIG, {
    architecture: "",
    config: {},
    os: "",
    rootfs: { type: "layers", diff_ids: layers.map((layer) => layer.digest) },
  });
  const manifest = jsonBlob(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptorOf(config),
    layers,
  });
  return { tag: tagOf(digest), blobs: [payload, config], manifest };
}

/**
 * Checks that one of the signatures of a manifest is by a key, and for this repository. Without a digest in the
 * reference it must be for the tag, too, because who writes to a registry moves tags to former versions. A signature that was verified once is kept in the cache, so
 * that a pulled artifact needs no registry.
 *
 * @param file the key's file, for errors
 * @throws TenonError `REGISTRY` when none is
 */
export async function checkSignature(
  digest: string,
  reference: Reference,
  { key, file }: { readonly key: KeyObject; readonly file: string },
  registry: Registry,
  store: Store,
): Promise<void> {
  const kept = await store.readSignature(digest);
  if (kept !== undefined && names(kept.payload, digest, reference) && isSigned(kept.payload, kept.signature, key))
    return;
  const layers = await layersOf(digest, reference, registry);
  let others = 0;
  for (const layer of layers) {
    if (layer.size > ociLimits.signatureBytes) continue;
    const answer = await registry.send(`blobs/${layer.digest}`, { method: "GET" });
    if (answer.status !== 200) throw await registry.unexpected(answer, `read a signature of ${digest}`);
    const payload = await registry.read(answer, layer.size, "a signature");
    const signature = signatureIn(layer);
    if (digestOf(payload) !== layer.digest || !isSigned(payload, signature, key)) continue;
    if (!names(payload, digest, reference)) {
      others++;
      continue;
    }
    await store.writeSignature(digest, { payload, signature });
    return;
  }
  const where = formatReference({ registry: reference.registry, repository: reference.repository, digest });
  if (layers.length === 0) throw new TenonError("REGISTRY", `${where} is not signed, and verify_key requires it`, HINT);
  if (others > 0) {
    const named = identityOf(reference);
    throw new TenonError("REGISTRY", `${where} is signed by the key ${file}, but not as ${named}`, OTHER_HINT);
  }
  throw new TenonError("REGISTRY", `none of the ${layers.length} signatures of ${where} is by the key ${file}`, HINT);
}

const HINT = "sign it with `tenon publish --sign-key` or `cosign sign --key`, or change verify_key";

const OTHER_HINT =
  "sign it under this name with `tenon publish --sign-key` or `cosign sign --key … -a tag=<tag>`, or name its digest";

/** Returns the name that a signature is for: `registry/repository:tag`, and without the tag when there is a digest. */
function identityOf({ registry, repository, tag, digest }: Reference): string {
  const name = `${isDockerHub(registry) ? "docker.io" : registry.toLowerCase()}/${repository}`;
  return tag === undefined || digest !== undefined ? name : `${name}:${tag}`;
}

/** Returns the tag of the signatures of a manifest. */
function tagOf(digest: string): string {
  return `${digest.replace(":", "-")}.sig`;
}

/** Returns the signatures that the registry has. */
async function layersOf(digest: string, reference: Reference, registry: Registry): Promise<Layer[]> {
  const answer = await registry.send(`manifests/${tagOf(digest)}`, {
    method: "GET",
    headers: { accept: mediaTypes.manifest },
  });
  if (answer.status === 404) {
    answer.discard();
    return [];
  }
  if (answer.status !== 200) throw await registry.unexpected(answer, `read the signatures of ${digest}`);
  const where = formatReference({ registry: reference.registry, repository: reference.repository, tag: tagOf(digest) });
  const manifest = parseObject(await registry.read(answer, ociLimits.manifestBytes, "a manifest"), where);
  const layers = Array.isArray(manifest["layers"]) ? manifest["layers"].slice(0, ociLimits.signatures) : [];
  return layers
    .map((each): Layer => ({ ...descriptor(each, where), annotations: Object(each).annotations ?? {} }))
    .filter(({ mediaType }) => mediaType === LAYER);
}

function signatureIn({ annotations }: Layer): Buffer {
  const text = annotations[ANNOTATION];
  return typeof text === "string" ? Buffer.from(text, "base64") : Buffer.alloc(0);
}

/**
 * Reports whether a signed text names this digest, this repository and, where it counts, this tag. cosign writes no tag
 * after the repository, but annotations: `cosign sign -a tag=1.0`.
 */
function names(payload: Uint8Array, digest: string, reference: Reference): boolean {
  try {
    const { critical, optional } = JSON.parse(Buffer.from(payload).toString("utf8"));
    if (critical.type !== TYPE || critical.image["docker-manifest-digest"] !== digest) return false;
    const [, registry, repository, tag = optional?.tag] =
      /^([^/]+)\/([^:@]+)(?::([^:@/]+))?$/.exec(critical.identity["docker-reference"]) ?? [];
    if (registry === undefined || repository === undefined) return false;
    const isBound = reference.digest === undefined;
    const signedAs = { registry, repository, ...(isBound ? { tag: String(tag) } : {}) };
    return identityOf(signedAs) === identityOf(reference);
  } catch {
    return false;
  }
}
