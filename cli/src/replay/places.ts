/** The stacks in a recording's log, with places in the sources. */
import { readFile } from "node:fs/promises";
import { mapStack, type RawSourceMap } from "../dev/map-stack.ts";
import { findProject } from "../project/project.ts";
import { componentsOf } from "./components.ts";
import type { TapeView } from "./tapes.ts";

/** The longest line of a log whose places are mapped. A stranger's recording may have lines of any length. */
const MOST = 2_000;

/** Maps the stacks by the source map of the project's component with the recorded digest. Without one, the recording stays as it is. */
export async function withPlaces(view: TapeView): Promise<TapeView> {
  const map = await sourceMapOf(view.component);
  if (map === undefined) return view;
  const mapped = (text: string) =>
    text.split("\n").every(({ length }) => length <= MOST) ? mapStack(text, map) : text;
  const events = view.events.map(({ kind, text, full }) =>
    kind === "log"
      ? { kind, text: mapped(text), ...(full === undefined ? {} : { full: mapped(full) }) }
      : { kind, text, ...(full === undefined ? {} : { full }) },
  );
  return { ...view, events };
}

async function sourceMapOf(digest: string): Promise<RawSourceMap | undefined> {
  const project = await findProject(process.cwd());
  const component = project && (await componentsOf(project.folder)).get(digest);
  if (component === undefined) return undefined;
  try {
    const { sources, mappings } = JSON.parse(await readFile(`${component}.map`, "utf8")) as RawSourceMap;
    return { sources, mappings };
  } catch {
    // A component of another machine may come without its map.
    return undefined;
  }
}
