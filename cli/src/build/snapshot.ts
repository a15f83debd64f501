/** The componentizer of every ordinary build: `crates/snapshot`, through the addon. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { SnapshotEngine } from "@tenon/native";
import { fromNative } from "../native.ts";
import { version } from "../package.ts";
import type { Terminal } from "../terminal.ts";
import type { Componentizer } from "./componentize.ts";
import { randomPlaces, requireHandled, topLevelError } from "./explain.ts";

/**
 * Tenon's own componentizer: the top level runs in a compiled engine, and the resulting memory is written into an
 * encoded component. A release does not name its tools.
 *
 * @throws TenonError `BUILD` with the place in the TypeScript when the module's top level fails
 */
export function snapshotComponentizer(
  engine: SnapshotEngine,
  terminal: Terminal,
  options: { readonly release: boolean },
): Componentizer {
  const tools: [string, string][] = options.release ? [] : [["tenon", version]];
  return async (bundle) => {
    const source = await readFile(bundle.file);
    try {
      const built = await fromNative(engine.build(basename(bundle.file), source, tools, [...bundle.linked]));
      const { component, stateBytes } = built;
      await requireHandled(built.printed, bundle);
      const { printed, warnings } = await randomPlaces(built.printed, bundle);
      for (const warning of warnings) terminal.say(`warning: ${warning}`);
      if (printed.trim() !== "") terminal.say(printed.trimEnd());
      terminal.detail(`${stateBytes} bytes of the component are the handler's`);
      return component;
    } catch (error) {
      throw await topLevelError(error, bundle);
    }
  };
}
