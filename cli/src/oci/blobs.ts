/** Blobs of a registry, which are verified. */
import type { TenonError } from "../errors.ts";
import { type Descriptor, digestOf } from "./artifact.ts";
import { ociLimits } from "./limits.ts";
import type { Registry, RegistryResponse } from "./registry.ts";

/** Requests a blob. */
export async function requestBlob(
  { digest }: Descriptor,
  registry: Registry,
  timeoutMs: number,
): Promise<RegistryResponse> {
  const answer = await registry.send(`blobs/${digest}`, { method: "GET", timeoutMs });
  if (answer.status !== 200) throw await registry.unexpected(answer, `pull the blob ${digest}`);
  return answer;
}

/**
 * Pulls a blob that fits into memory, and compares size and digest.
 *
 * @param what its name in errors, with an article
 * @throws TenonError `REGISTRY`
 */
export async function pullBlob(blob: Descriptor, registry: Registry, what: string): Promise<Buffer> {
  const answer = await requestBlob(blob, registry, ociLimits.requestMs);
  const bytes = await registry.read(answer, blob.size, what);
  if (bytes.length !== blob.size || digestOf(bytes) !== blob.digest) throw changed(registry, what);
  return bytes;
}

/** Makes the error for bytes that are not the requested ones. */
export function changed(registry: Registry, what: string): TenonError {
  return registry.failure(
    `sends ${what} whose digest or size differs from the requested one`,
    "it was changed in transit or in the registry; pull again, and do not use this registry if that fails",
  );
}
