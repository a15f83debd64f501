/** Limits of what a registry, a credential helper or a Docker configuration may answer with. */
export const ociLimits = {
  /** A manifest. The distribution specification asks registries to take as many. */
  manifestBytes: 4 * 1024 * 1024,
  /** The configuration of a Wasm artifact. */
  configBytes: 1024 * 1024,
  /** A component, as `crates/screen` has it. */
  componentBytes: 256 * 1024 * 1024,
  /** A token and what comes with it. */
  tokenBytes: 64 * 1024,
  /** The body of an answer that reports an error. */
  errorBytes: 64 * 1024,
  /** A Docker configuration. */
  dockerConfigBytes: 1024 * 1024,
  /** What a credential helper prints. */
  helperBytes: 64 * 1024,
  /** Time that a credential helper takes. It may ask the user to unlock a keychain. */
  helperMs: 30_000,
  connectMs: 10_000,
  /** Time until the head of an answer, and between two pieces of its body. */
  idleMs: 30_000,
  /** Time for an answer with all of its body, redirects included; of a component see `transferMs`. */
  requestMs: 60_000,
  /** Time for a component in either direction. */
  transferMs: 15 * 60_000,
  redirects: 5,
} as const;
