/**
 * Work of the SDK before the snapshot: calls to sidecars, which the build answers, and the handlers of routes with `warm`.
 */
const works: (() => unknown)[] = [];

/** Adds work. The call is beside the code that it warms up, so a component does not contain work for unused code. */
export function atRehearsal(work: () => unknown): void {
  works.push(work);
}

/** Does all work once. Work that fails has warmed up a part. */
export async function rehearse(): Promise<void> {
  for (const work of works.splice(0)) {
    try {
      await work();
    } catch {}
  }
}
