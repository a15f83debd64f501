// The places of the host's functions in the engine's table. places.txt lists them in order: the user, the interface and the function.
// `engine` is the engine, whose results stand in its arguments; `server` the bridge and the adapter (crates/bridge), which own them.
import { readFileSync } from "node:fs";

/** The first place. Place 1 is the dispatcher's of imported modules, and 0 the null pointer. */
const FIRST = 2;

const lines = readFileSync(new URL("places.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");

/** Changes when a place gets another meaning, so that a wrapper and an engine that do not fit are told apart. */
export const version = Number(/^version (\d+)$/.exec(lines[0])[1]);

/** The places: {place, user, module, name}. */
export const places = lines.slice(1).map((line, index) => {
  const [user, module, name] = line.split(" ");
  return { place: FIRST + index, user, module, name };
});
if (FIRST + places.length > 128) throw new Error("build.sh reserves places up to 127");

/** C declares the functions of the engine (src/abi.h). */
export const userOf = ({ symbol }) => (symbol.startsWith("host_") ? "engine" : "server");

/** Finds the place of an import. */
export function placeOf(imported) {
  const user = userOf(imported);
  const is = (each) => each.user === user && each.module === imported.module && each.name === imported.name;
  const found = places.find(is);
  if (!found) throw new Error(`places.txt has no line: ${user} ${imported.module} ${imported.name}`);
  return found.place;
}
