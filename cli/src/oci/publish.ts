import type { KeyObject } from "node:crypto";
import { TenonError } from "../errors.ts";
import { type Blob, buildArtifact, type Description, mediaTypes } from "./artifact.ts";
import { ociLimits } from "./limits.ts";
import { formatReference, parseReference, type Reference } from "./reference.ts";
import { Registry, type RegistryOptions } from "./registry.ts";
import { signatureOf } from "./signature.ts";

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
}

/**
 * Publishes a component under a tag, in the CNCF Wasm layout. Its signature is there before the tag.
 *
 * @throws TenonError `USAGE` for a reference without a tag, `REGISTRY` for an error of the registry
 */
export async function publishComponent(
  component: Uint8Array,
  description: Description,
  reference: Reference & { readonly tag: string },
  options: PublishOptions = {},
): Promise<Published> {
  const { layer, config, manifest } = buildArtifact(component, description);
  const registry = new Registry(reference, "pull,push", options);
  try {
    let sent = 0;
    for (const blob of [layer, config]) sent += await push(blob, registry);
    if (options.signKey !== undefined) {
      const signature = await signatureOf(manifest.digest, reference, options.signKey, registry);
      for (const blob of signature?.blobs ?? []) sent += await push(blob, registry);
      if (signature !== undefined)
        sent += await pushManifest(signature.manifest, { ...reference, tag: signature.tag }, registry);
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

/** Pushes a blob unless the registry has it. Returns the number of bytes sent. */
async function push({ bytes, digest, size }: Blob, registry: Registry): Promise<number> {
  const found = await registry.send(`blobs/${digest}`, { method: "HEAD" });
  found.discard();
  if (found.status === 200) return 0;
  if (found.status !== 404) throw await registry.unexpected(found, `publish to ${registry.name}`);
  const started = await registry.send("blobs/uploads/", { method: "POST" });
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
