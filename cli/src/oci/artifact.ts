/** The CNCF Wasm artifact: an OCI manifest with a Wasm configuration and one layer, the component. */
import { createHash } from "node:crypto";
import { TenonError } from "../errors.ts";
import { ociLimits } from "./limits.ts";
import { digestPattern } from "./reference.ts";

/** Media types of the layout. */
export const mediaTypes = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.wasm.config.v0+json",
  component: "application/wasm",
} as const;

/** Media types of manifests that list other manifests. */
const INDEXES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];
/** The layer of an older layout, which the tool wasm-to-oci writes. */
const OLD_LAYER = "application/vnd.wasm.content.layer.v1+wasm";

/** A blob as described in a manifest. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** The parts of a manifest that Tenon uses. */
export interface Artifact {
  readonly config: Descriptor;
  readonly layer: Descriptor;
}

/** An artifact's metadata. */
export interface Description {
  readonly title: string;
  readonly version?: string;
  /** Address of the source code. */
  readonly source?: string;
  readonly created: Date;
  /** Interfaces of the component, such as `wasi:http/incoming-handler@0.2.10`. */
  readonly imports: readonly string[];
  readonly exports: readonly string[];
}

/** A blob to push. */
export interface Blob extends Descriptor {
  readonly bytes: Uint8Array;
}

/** Returns `sha256:` and the digest of bytes. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** The blobs of a component. */
export interface BuiltArtifact {
  readonly layer: Blob;
  readonly config: Blob;
  readonly manifest: Blob;
  /** Annotations of the manifest. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Builds the blobs of a component. */
export function buildArtifact(
  component: Uint8Array,
  { title, version, source, created, imports, exports }: Description,
): BuiltArtifact {
  const layer = blob(mediaTypes.component, component);
  const time = created.toISOString().replace(/\.[0-9]+Z$/, "Z");
  const config = jsonBlob(mediaTypes.config, {
    created: time,
    architecture: "wasm",
    os: "wasip2",
    layerDigests: [layer.digest],
    component: { exports, imports },
  });
  const annotations = {
    "org.opencontainers.image.created": time,
    ...(source === undefined ? {} : { "org.opencontainers.image.source": source }),
    "org.opencontainers.image.title": title,
    ...(version === undefined ? {} : { "org.opencontainers.image.version": version }),
  };
  const manifest = jsonBlob(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptorOf(config),
    // Tools that write files, such as `oras pull`, take the name from this annotation.
    layers: [{ ...descriptorOf(layer), annotations: { "org.opencontainers.image.title": `${title}.wasm` } }],
    annotations,
  });
  return { layer, config, manifest, annotations };
}

/**
 * Parses a manifest from a registry.
 *
 * @param where its name in errors
 * @throws TenonError `REGISTRY` when it is not an artifact of one component
 */
export function parseManifest(bytes: Uint8Array, where: string): Artifact {
  const manifest = parseObject(bytes, where);
  const { schemaVersion, mediaType, layers } = manifest;
  if (INDEXES.includes(String(mediaType)) || (layers === undefined && Array.isArray(manifest["manifests"]))) {
    throw unfit(where, "is an index of several images", "name the digest of one Wasm artifact in it");
  }
  if (schemaVersion !== 2 || (mediaType !== undefined && mediaType !== mediaTypes.manifest)) {
    throw unfit(where, "has no OCI manifest", published);
  }
  if (!Array.isArray(layers)) throw unfit(where, "has a manifest without layers", published);
  const [layer] = layers.map((each) => descriptor(each, where));
  const config = descriptor(manifest["config"], where);
  if (layer?.mediaType === OLD_LAYER) {
    throw unfit(where, `has a layer of the older type ${OLD_LAYER}`, published);
  }
  if (config.mediaType !== mediaTypes.config) {
    throw unfit(
      where,
      `has a configuration of the type ${shown(config.mediaType)}, not ${mediaTypes.config}`,
      published,
    );
  }
  if (layer === undefined || layers.length > 1)
    throw unfit(where, `has ${layers.length} layers instead of one`, published);
  if (layer.mediaType !== mediaTypes.component) {
    throw unfit(where, `has a layer of the type ${shown(layer.mediaType)}, not ${mediaTypes.component}`, published);
  }
  requireSizes(
    [
      [config, ociLimits.configBytes, "a configuration"],
      [layer, ociLimits.componentBytes, "a component"],
    ],
    where,
  );
  return { config, layer };
}

/**
 * Checks the sizes of blobs against their limits.
 *
 * @throws TenonError `REGISTRY`
 */
export function requireSizes(
  parts: readonly (readonly [part: Descriptor, limit: number, what: string])[],
  where: string,
): void {
  for (const [{ size }, limit, what] of parts) {
    if (size > limit) throw unfit(where, `has ${what} of ${size} bytes; the limit is ${limit}`);
  }
}

/**
 * Checks the configuration that belongs to a layer.
 *
 * @throws TenonError `REGISTRY`
 */
export function checkConfig(bytes: Uint8Array, { layer }: Artifact, where: string): void {
  const { architecture, layerDigests } = parseObject(bytes, where);
  if (architecture !== undefined && architecture !== "wasm") {
    throw unfit(where, "is for another architecture than wasm");
  }
  if (layerDigests === undefined) return;
  if (!Array.isArray(layerDigests) || layerDigests.length !== 1 || layerDigests[0] !== layer.digest) {
    throw unfit(where, "has a configuration that belongs to another component", published);
  }
}

const published = "publish it with `tenon publish` or `wkg oci push`";

/**
 * Parses JSON of a registry that is an object.
 *
 * @throws TenonError `REGISTRY`
 */
export function parseObject(bytes: Uint8Array, where: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw unfit(where, "has a manifest or configuration that is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw unfit(where, "has a manifest or configuration that is not a JSON object");
  }
  return value as Readonly<Record<string, unknown>>;
}

/**
 * Reads a descriptor from a manifest.
 *
 * @throws TenonError `REGISTRY`
 */
export function descriptor(value: unknown, where: string): Descriptor {
  const { mediaType, digest, size } = Object(value) as Record<string, unknown>;
  if (
    typeof mediaType !== "string" ||
    typeof digest !== "string" ||
    !Number.isSafeInteger(size) ||
    (size as number) < 0
  ) {
    throw unfit(where, "has a manifest whose descriptors lack a media type, a digest or a size");
  }
  // A digest becomes part of URLs and file names.
  if (!digestPattern.test(digest)) throw unfit(where, "has a digest that is not sha256");
  return { mediaType, digest, size: size as number };
}

function shown(mediaType: string): string {
  return mediaType.replace(/[^a-zA-Z0-9!#$&^_.+/-]/g, "?").slice(0, 128);
}

function unfit(where: string, problem: string, hint?: string): TenonError {
  return new TenonError("REGISTRY", `${where} ${problem}`, hint);
}

/** Makes a blob to push. */
export function blob(mediaType: string, bytes: Uint8Array): Blob {
  return { mediaType, bytes, digest: digestOf(bytes), size: bytes.length };
}

/** Makes a blob of JSON. */
export function jsonBlob(mediaType: string, value: unknown): Blob {
  return blob(mediaType, Buffer.from(JSON.stringify(value)));
}

/** Returns the descriptor of a blob. */
export function descriptorOf({ mediaType, digest, size }: Descriptor): Descriptor {
  return { mediaType, digest, size };
}
