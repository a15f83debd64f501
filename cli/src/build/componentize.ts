/** The second step of a build, as an interface: a component from a bundle. */
import type { Bundle } from "./bundle.ts";

/**
 * Makes a component of a bundle: runs its top level inside the JavaScript engine and keeps the result. There are two:
 * `snapshot.ts`, with an engine that is compiled once, and `reference.ts`, by componentize-js itself.
 */
export type Componentizer = (bundle: Bundle) => Promise<Uint8Array>;
