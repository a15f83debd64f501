/** Limits of the answers of a registry or a credential helper, and of a Docker configuration. */
export const ociLimits = {
  /** A manifest. The distribution specification asks registries to accept this size. */
  manifestBytes: 4 * 1024 * 1024,
  /** The configuration of a Wasm artifact. */
  configBytes: 1024 * 1024,
  /** A component; the same limit as in `crates/screen`. */
  componentBytes: 256 * 1024 * 1024,
  /** A component that is put together of an engine and a delta, and the engine. Both are in memory as a whole. */
  slimBytes: 64 * 1024 * 1024,
  /** The blob of an engine or of a delta, both of which are compressed. */
  packedBytes: 16 * 1024 * 1024,
  /** The manifest of a slim artifact beside a whole one. */
  slimManifestBytes: 64 * 1024,
  /** A component below this size is always pulled as it is. */
  wholeBytes: 1024 * 1024,
  /** The answer with a token. */
  tokenBytes: 64 * 1024,
  /** The body of an answer that reports an error. */
  errorBytes: 64 * 1024,
  /** A Docker configuration. */
  dockerConfigBytes: 1024 * 1024,
  /** Signatures of an artifact, and the signed text of each. */
  signatures: 32,
  signatureBytes: 64 * 1024,
  /** The file of a key, and the memory for decrypting it. */
  keyBytes: 64 * 1024,
  keyMemory: 512 * 1024 * 1024,
  /** The output of a credential helper. */
  helperBytes: 64 * 1024,
  /** Time limit of a credential helper. It may ask the user to unlock a keychain. */
  helperMs: 30_000,
  connectMs: 10_000,
  /** Time limit until the head of an answer, and between two pieces of its body. */
  idleMs: 30_000,
  /** Time limit for an answer with its whole body, redirects included; `transferMs` is for components. */
  requestMs: 60_000,
  /** Time limit for a component in either direction. */
  transferMs: 15 * 60_000,
  redirects: 5,
} as const;
