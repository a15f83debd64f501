/** The source map of a build, for the page of an exception. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
}

/**
 * Returns a source map with the texts of the project's files, in place of those in which the build has blanked the documentation.
 * A file that has another length by now keeps its text of the build.
 *
 * @param folder the project's, in which the build's entry is
 */
export async function withWholeTexts(map: string, folder: string): Promise<string> {
  const parsed = JSON.parse(map) as SourceMap;
  const up = parsed.sources
    .map((each) => /^((?:\.\.\/)+)tenon-entry$/.exec(each)?.[1])
    .find((each) => each !== undefined);
  if (up === undefined) return map;
  const textOf = async (source: string, built: string | null): Promise<string | null> => {
    if (built === null || !source.startsWith(up) || source.includes("node_modules/")) return built;
    const text = await readFile(join(folder, source.slice(up.length)), "utf8").catch(() => built);
    return text.length === built.length ? text : built;
  };
  const texts = parsed.sources.map((source, at) => textOf(source, parsed.sourcesContent?.[at] ?? null));
  return JSON.stringify({ ...parsed, sourcesContent: await Promise.all(texts) });
}
