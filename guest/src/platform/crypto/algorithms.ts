/** The algorithms of `crypto.subtle` in this component. Modules for groups of algorithms add theirs (`with-curves.ts`, `with-rsa.ts`, `with-symmetric.ts`). */
import type { Algorithm } from "./algorithm.ts";
import { hmac } from "./hmac.ts";

const known = new Map<string, Algorithm>();

export function addAlgorithms(algorithms: readonly Algorithm[]): void {
  for (const algorithm of algorithms) {
    known.set(algorithm.name, algorithm);
    known.set(algorithm.name.toUpperCase(), algorithm);
  }
}

/** Finds an algorithm by its name, in any case. */
export const findAlgorithm = (name: string): Algorithm | undefined => known.get(name) ?? known.get(name.toUpperCase());

addAlgorithms([hmac]);
