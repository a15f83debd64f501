import type { KeyObject } from "node:crypto";
import { defaultCacheFolder } from "../cache-folder.ts";
import { TenonError } from "../errors.ts";
import { type Blob, buildArtifact, type Description, mediaTypes } from "./artifact.ts";
import { ociLimits } from "./limits.ts";
import { pack } from "./pack.ts";
import { formatReference, parseReference, type Reference } from "./reference.ts";
import { Registry, type RegistryOptions, type RegistryResponse } from "./registry.ts";
import { signatureOf } from "./signature.ts";
import { slimManifest, slimTag } from "./slim.ts";
import { Store } from "./store.ts";

/** The result of publishing. */
export interface Published {
  /** `oci://registry/repository@sha256:…`, which refers to these very bytes. */
  readonly reference: string;
  /** Digest of the manifest. */
  readonly digest: string;
  /** Bytes that were sent, without blobs that the registry already had. */
  readonly sent: number;
}

/** Options for publishing. */
export interface PublishOptions extends RegistryOptions {
  /** Private key that signs the manifest, in cosign's format. */
  readonly signKey?: KeyObject | undefined;
  /** Publish only the engine and the delta, and not the whole component. Only Tenon can pull it. */
  readonly slim?: boolean;
  /** Cache folder; the user's by default. */
  readonly cacheFolder?: string;
}

/**
 * Publishes a component under a tag, in the CNCF Wasm layout, and the slim artifact beside it. Its signature is there before
 * the tag.
 *
 * @throws TenonError `USAGE` for a component that cannot be slim, `REGISTRY` for an error of the registry
 */
export async function publishComponent(
  component: Uint8Array,
  description: Description,
  reference: Reference & { readonly tag: string },
  options: PublishOptions = {},
): Promise<Published> {
  const whole = buildArtifact(component, description);
  const { layer, config } = whole;
  const packed = await pack(component);
  if (options.slim && packed === undefined) {
    throw new TenonError(
      "USAGE",
      "the component cannot be slim: without its engine it is not smaller",
      "publish it without --slim",
    );
  }
  const manifest = options.slim && packed ? slimManifest(whole, packed, "alone") : whole.manifest;
  const registry = new Registry(reference, "pull,push", options);
  try {
    let sent = 0;
    for (const blob of options.slim ? [config] : [layer, config]) sent += await push(blob, registry);
    if (packed !== undefined) {
      const store = new Store(options.cacheFolder ?? defaultCacheFolder(options.environment));
      sent += await pushShared(packed.engine, reference, registry, store);
      sent += await push(packed.delta, registry);
    }
    if (options.signKey !== undefined) {
      const signature = await signatureOf(manifest.digest, reference, options.signKey, registry);
      for (const blob of signature?.blobs ?? []) sent += await push(blob, registry);
      if (signature !== undefined)
        sent += await pushManifest(signature.manifest, { ...reference, tag: signature.tag }, registry);
    }
    if (!options.slim && packed !== undefined) {
      const beside = { ...reference, tag: slimTag(manifest.digest) };
      sent += await pushManifest(slimManifest(whole, packed, "beside"), beside, registry);
    }
    sent += await pushManifest(manifest, reference, registry);
    const { registry: name, repository } = reference;
    const { digest } = manifest;
    return { reference: formatReference({ registry: name, repository, digest }), digest, sent };
  } finally {
    await registry.close();
  }
}

/**
 * Parses the reference to publish under.
 *
 * @throws TenonError `USAGE`
 */
export function parseTarget(text: string): Reference & { readonly tag: string } {
  const reference = parseReference(text);
  const { tag, digest } = reference;
  if (tag === undefined || digest !== undefined) {
    throw new TenonError(
      "USAGE",
      `cannot publish under ${JSON.stringify(text)}: it has a digest, which follows from the bytes`,
      "name a tag",
    );
  }
  return { ...reference, tag };
}

/** Pushes a manifest under a tag. Returns the number of bytes sent. */
async function pushManifest(manifest: Blob, reference: Reference, registry: Registry): Promise<number> {
  const answer = await registry.send(`manifests/${reference.tag}`, {
    method: "PUT",
    headers: { "content-type": mediaTypes.manifest },
    body: manifest.bytes,
  });
  if (answer.status !== 201 && answer.status !== 200) {
    throw await registry.unexpected(answer, `publish ${formatReference(reference)}`);
  }
  answer.discard();
  const said = answer.header("docker-content-digest");
  if (said?.startsWith("sha256:") && said !== manifest.digest) {
    throw registry.failure("has stored another manifest than Tenon sent", "the registry is broken or hostile");
  }
  return manifest.size;
}

/**
 * Pushes a blob that other repositories of the registry have as well. The registry copies it from the one that got it last, if
 * it can. Returns the number of bytes sent.
 */
async function pushShared(
  blob: Blob,
  { registry: name, repository }: Reference,
  registry: Registry,
  store: Store,
): Promise<number> {
  const from = await store.readRepository(blob.digest, name);
  const sent = await push(blob, registry, from === repository ? undefined : from);
  if (from !== repository) await store.writeRepository(blob.digest, name, repository);
  return sent;
}

/** Pushes a blob unless the registry has it, here or in the repository `from`. Returns the number of bytes sent. */
async function push({ bytes, digest, size }: Blob, registry: Registry, from?: string): Promise<number> {
  const found = await registry.send(`blobs/${digest}`, { method: "HEAD" });
  found.discard();
  if (found.status === 200) return 0;
  if (found.status !== 404) throw await registry.unexpected(found, `publish to ${registry.name}`);
  const mounted = from === undefined ? undefined : await mount(digest, from, registry);
  if (mounted?.status === 201) {
    mounted.discard();
    return 0;
  }
  const started = mounted ?? (await registry.send("blobs/uploads/", { method: "POST" }));
  const location = started.header("location");
  if (started.status !== 202 || location === undefined) {
    throw await registry.unexpected(started, `publish to ${registry.name}`);
  }
  started.discard();
  const done = await registry.send(withDigest(location, digest, started.url, registry), {
    method: "PUT",
    headers: { "content-type": "application/octet-stream" },
    body: bytes,
    timeoutMs: ociLimits.transferMs,
  });
  if (done.status !== 201) throw await registry.unexpected(done, `publish to ${registry.name}`);
  done.discard();
  return size;
}

/**
 * Asks the registry to copy a blob from another repository. It answers 201 when it has done so, and 202 when it begins an
 * upload instead. Returns undefined when it does neither: these credentials may not be for the other repository.
 */
async function mount(digest: string, from: string, registry: Registry): Promise<RegistryResponse | undefined> {
  const query = new URLSearchParams({ mount: digest, from });
  try {
    const answer = await registry.send(`blobs/uploads/?${query}`, { method: "POST", alsoPulls: from });
    if (answer.status === 201 || answer.status === 202) return answer;
    answer.discard();
  } catch (error) {
    if (!(error instanceof TenonError)) throw error;
  }
  return undefined;
}

/** Returns the URL that completes an upload. */
function withDigest(location: string, digest: string, base: URL, registry: Registry): string {
  try {
    const upload = new URL(location, base);
    upload.searchParams.append("digest", digest);
    return upload.href;
  } catch {
    throw registry.failure("names an invalid address", "the registry is broken or hostile");
  }
}
