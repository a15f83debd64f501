/**
 * Work of the SDK before the snapshot, beside the requests of `warm-up.ts`: calls to sidecars, which the build answers, and the
 * handlers of routes that are `warm`.
 */
const works: (() => unknown)[] = [];

/** Adds work. It stands beside the code that it warms up, so what an app does not use is not in its component for this. */
export function atRehearsal(work: () => unknown): void {
  works.push(work);
}

/** Does all of it once. Work that fails has warmed up a part. */
export async function rehearse(): Promise<void> {
  for (const work of works.splice(0)) {
    try {
      await work();
    } catch {}
  }
}
