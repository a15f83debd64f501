/** A statement, and whether it was made to reach what it may not. */
export interface Made {
  readonly sql: string;
  readonly hostile: boolean;
}
export function schema(canary: string): string[];
export const fresh: readonly string[];
export const tables: readonly string[];
export function statements(seed: number): () => Made;
