/** Resolves the optional peers of `@tenon/sdk` from the project, also where the SDK is a link to a folder with copies of its own. */
import type { Plugin } from "esbuild";

const peers = /^(?:kysely|drizzle-orm)(?:\/|$)/;
/** Files of the SDK that import them. */
const importers = /[\\/](?:ts-sdk|@tenon[\\/]sdk)[\\/]dist[\\/](?:kysely|drizzle)[\\/]/;
const resolving = Symbol("resolving");

/** Lets a bundle have one copy of a peer: the project's, whose classes its own code names. */
export function sdkPeers(folder: string): Plugin {
  return {
    name: "sdk-peers",
    setup({ onResolve, resolve }) {
      onResolve({ filter: peers }, async ({ path, importer, kind, pluginData }) => {
        if (pluginData === resolving || !importers.test(importer)) return undefined;
        const found = await resolve(path, { kind, importer, resolveDir: folder, pluginData: resolving });
        return found.errors.length > 0 ? undefined : found;
      });
    },
  };
}
