/**
 * What a build has the SDK do before the snapshot, beside the requests of `warm-up.ts`: calls to sidecars, which the build answers,
 * and the handlers of routes that are `warm`.
 */
import { platform } from "./platform.ts";

const works: (() => Promise<unknown>)[] = [];

/** Adds work. It stands beside the code that it warms up, so what an app does not use is not in its component for this. */
export function atRehearsal(work: () => Promise<unknown>): void {
  works.push(work);
}

/** Does all of it once. What fails has warmed up a part. */
export async function rehearse(): Promise<void> {
  const allow = refuseRandomness();
  for (const work of works.splice(0)) {
    try {
      await work();
    } catch {
      // The handler's own failures are answers.
    }
  }
  allow();
}

/** Refuses random values, because all instances would have those that a handler keeps. Returns what ends that. */
function refuseRandomness(): () => void {
  const { crypto } = platform;
  const refused: readonly (readonly [object, string])[] = [
    [Math, "random"],
    [crypto, "getRandomValues"],
    [crypto, "randomUUID"],
    [crypto.subtle, "generateKey"],
  ];
  const ends = refused.map(([owner, name]) => {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    const value = () => {
      throw new Error(`${name}: a build warms this route up, and all requests would have the same random values`);
    };
    Object.defineProperty(owner, name, { configurable: true, writable: true, value });
    return () => {
      if (before === undefined) Reflect.deleteProperty(owner, name);
      else Object.defineProperty(owner, name, before);
    };
  });
  return () => {
    for (const end of ends) end();
  };
}
