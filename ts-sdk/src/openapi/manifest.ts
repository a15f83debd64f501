/** What the document takes from `package.json`; other keys are ignored. */
export interface Manifest {
  readonly name: string;
  /** `0.0.0` when there is none: OpenAPI wants one. */
  readonly version?: string;
  readonly description?: string;
}
