/** The componentizer of every ordinary build: `crates/snapshot`, through the addon. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { SnapshotEngine } from "@tenon/native";
import { TenonError } from "../errors.ts";
import { fromNative } from "../native.ts";
import { version } from "../package.ts";
import type { Terminal } from "../terminal.ts";
import type { Componentizer } from "./componentize.ts";
import type { BuildEnvironment } from "./environment.ts";
import { randomPlaces, requireHandled, topLevelError } from "./explain.ts";

/**
 * Tenon's own componentizer: the top level runs in a compiled engine, and the resulting memory is written into an
 * encoded component. A release does not name its tools.
 *
 * @throws TenonError `BUILD` with the place in the TypeScript when the module's top level fails
 * @throws ReadsEnvironment when it reads variables that the bundle lacks
 */
export function snapshotComponentizer(
  engine: SnapshotEngine,
  terminal: Terminal,
  options: { readonly release: boolean },
  environment: BuildEnvironment,
): Componentizer {
  const tools: [string, string][] = options.release ? [] : [["tenon", version]];
  return async (bundle) => {
    const source = await readFile(bundle.file);
    try {
      const built = await fromNative(engine.build(basename(bundle.file), source, tools, [...bundle.linked]));
      const { component, stateBytes } = built;
      environment.requireAll(built.printed);
      await requireHandled(built.printed, bundle);
      const random = await randomPlaces(built.printed, bundle);
      const { printed, warnings } = await environment.warnings(random.printed, bundle);
      for (const warning of [...random.warnings, ...warnings]) terminal.say(`warning: ${warning}`);
      if (printed.trim() !== "") terminal.say(printed.trimEnd());
      terminal.detail(`${stateBytes} bytes of the component are the handler's`);
      return component;
    } catch (error) {
      const output = error instanceof TenonError && error.code === "TOP_LEVEL" ? error.message : "";
      environment.requireAll(output);
      throw await topLevelError(error, bundle, environment.hint(output));
    }
  };
}
