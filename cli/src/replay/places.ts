/** The stacks in a recording's log, with places in the sources. */
import { readFile } from "node:fs/promises";
import { mapStack, type RawSourceMap } from "../dev/map-stack.ts";
import { findProject } from "../project/project.ts";
import { componentsOf } from "./components.ts";
import type { TapeView } from "./tapes.ts";

/** The most frames that are mapped, and characters of one: a stranger's recording may have any number of any length. */
const MOST = { frames: 1_000, characters: 500 };

/** Maps the stacks by the source map of the project's component with the recorded digest. Without one, the recording stays as it is. */
export async function withPlaces(view: TapeView): Promise<TapeView> {
  const frames = framesOf(view);
  const map = frames.length === 0 ? undefined : await sourceMapOf(view.component);
  return map === undefined ? view : mapped(view, frames, map);
}

/** Replaces the frames of a log by those of the sources. */
export function mapped(view: TapeView, frames: readonly string[], map: RawSourceMap): TapeView {
  const places = mapStack(frames.join("\n"), { sources: map.sources, mappings: map.mappings }).split("\n");
  const placeOf = new Map(frames.map((frame, at) => [frame, places[at] ?? frame]));
  const within = (text: string) =>
    text
      .split("\n")
      .map((line) => placeOf.get(line) ?? line)
      .join("\n");
  const events = view.events.map((event) => {
    if (event.kind !== "log") return event;
    const { full } = event;
    return { ...event, text: within(event.text), ...(full === undefined ? {} : { full: within(full) }) };
  });
  return { ...view, events };
}

/** The different frames in a recording's log. */
export function framesOf({ events }: TapeView): string[] {
  const frames = new Set<string>();
  for (const { kind, text, full = text } of events) {
    if (kind !== "log") continue;
    for (const line of full.split("\n"))
      if (line.startsWith("    at ") && line.length <= MOST.characters && frames.size < MOST.frames) frames.add(line);
  }
  return [...frames];
}

async function sourceMapOf(digest: string): Promise<RawSourceMap | undefined> {
  const project = await findProject(process.cwd());
  const component = project && (await componentsOf(project.folder)).get(digest);
  if (component === undefined) return undefined;
  try {
    return JSON.parse(await readFile(`${component}.map`, "utf8")) as RawSourceMap;
  } catch {
    // A component of another machine may come without its map.
    return undefined;
  }
}
