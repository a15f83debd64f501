/**
 * The packages that documents are made with. They come with `@tenon/build`, so that the SDK brings nothing of them to a
 * place that only runs components or calls them by the typed client.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { OpenApiError } from "./errors.ts";

interface Packages {
  esbuild: typeof import("esbuild");
  "oxc-parser": typeof import("oxc-parser");
  tinyglobby: typeof import("tinyglobby");
}

/**
 * Returns a package of `@tenon/build`, which is beside the SDK or in the project.
 *
 * @throws OpenApiError when `@tenon/build` is not installed
 */
export function ofBuild<Name extends keyof Packages>(name: Name): Packages[Name] {
  for (const from of [import.meta.url, join(process.cwd(), "package.json")]) {
    const build = resolved(from, "@tenon/build/package.json");
    if (build !== undefined) return createRequire(build)(name) as Packages[Name];
  }
  throw new OpenApiError("@tenon/sdk/openapi needs the package @tenon/build: npm install --save-dev @tenon/build");
}

function resolved(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}
