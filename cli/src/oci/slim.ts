/**
 * Slim artifacts: a component as an engine, the same for many components, and a delta to it.
 *
 * A slim artifact stands beside an artifact of the CNCF layout, which it names as its subject, under the tag
 * `sha256-<digest>.slim`. With `tenon publish --slim` it stands alone.
 */
import { TenonError } from "../errors.ts";
import {
  type Artifact,
  type Blob,
  type BuiltArtifact,
  type Descriptor,
  descriptor,
  descriptorOf,
  jsonBlob,
  mediaTypes,
  parseObject,
  requireSizes,
} from "./artifact.ts";
import { ociLimits } from "./limits.ts";

/** Media types of slim artifacts. The formats of both layers are those of `crates/rewrite/src/delta.rs`. */
export const slimTypes = {
  artifact: "application/vnd.tenon.slim.v1",
  engine: "application/vnd.tenon.engine.v1+zstd",
  delta: "application/vnd.tenon.component.delta.v1+zstd",
} as const;

const COMPONENT_DIGEST = "vnd.tenon.component.digest";
const COMPONENT_SIZE = "vnd.tenon.component.size";

/** The two blobs that make a component. */
export interface Packed {
  readonly engine: Blob;
  readonly delta: Blob;
}

/** A parsed slim artifact. Its `layer` is the component, which is not in the registry under this name. */
export interface SlimArtifact extends Artifact {
  readonly engine: Descriptor;
  readonly delta: Descriptor;
  /** Digest of the manifest beside which it stands. */
  readonly subject?: string;
}

/** Builds the manifest of a slim artifact: beside the whole one, or alone. */
export function slimManifest(whole: BuiltArtifact, { engine, delta }: Packed, place: "beside" | "alone"): Blob {
  const { layer, config, manifest, annotations } = whole;
  return jsonBlob(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    artifactType: slimTypes.artifact,
    config: descriptorOf(config),
    layers: [descriptorOf(engine), descriptorOf(delta)],
    ...(place === "beside" ? { subject: descriptorOf(manifest) } : {}),
    annotations: { ...annotations, [COMPONENT_DIGEST]: layer.digest, [COMPONENT_SIZE]: String(layer.size) },
  });
}

/** Returns the tag of the slim artifact beside a manifest. */
export function slimTag(digest: string): string {
  return `${digest.replace(":", "-")}.slim`;
}

/**
 * Parses a manifest from a registry.
 *
 * @param where its name in errors
 * @returns undefined when it is no slim artifact
 * @throws TenonError `REGISTRY` when it is a slim artifact that Tenon cannot read
 */
export function parseSlim(bytes: Uint8Array, where: string): SlimArtifact | undefined {
  const manifest = parseObject(bytes, where);
  if (manifest["artifactType"] !== slimTypes.artifact) return undefined;
  const { layers, subject } = manifest;
  const [engine, delta, ...others] = (Array.isArray(layers) ? layers : []).map((each) => descriptor(each, where));
  if (engine?.mediaType !== slimTypes.engine || delta?.mediaType !== slimTypes.delta || others.length > 0) {
    throw new TenonError(
      "REGISTRY",
      `${where} has other layers than an engine and a delta`,
      "publish it again with `tenon publish`, or install a newer version of Tenon",
    );
  }
  const annotations = Object(manifest["annotations"]) as Record<string, unknown>;
  const size = annotations[COMPONENT_SIZE];
  const layer = descriptor(
    {
      mediaType: mediaTypes.component,
      digest: annotations[COMPONENT_DIGEST],
      size: typeof size === "string" && /^[0-9]{1,15}$/.test(size) ? Number(size) : undefined,
    },
    where,
  );
  const config = descriptor(manifest["config"], where);
  requireSizes(
    [
      [config, ociLimits.configBytes, "a configuration"],
      [layer, ociLimits.slimBytes, "a component"],
      [engine, ociLimits.packedBytes, "an engine"],
      [delta, ociLimits.packedBytes, "a delta"],
    ],
    where,
  );
  return {
    config,
    layer,
    engine,
    delta,
    ...(subject === undefined ? {} : { subject: descriptor(subject, where).digest }),
  };
}
