import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { TenonError } from "../errors.ts";
import { fromNative } from "../native.ts";
import { version } from "../package.ts";
import type { Terminal } from "../terminal.ts";
import type { Bundle } from "./bundle.ts";
import type { Componentizer } from "./componentize.ts";
import { prepareEngine } from "./engine.ts";
import { explain, topLevelHint } from "./explain.ts";

/**
 * Tenon's own way: the top level runs in an engine that is compiled already, and the memory that it leaves is written into
 * a component that is encoded already. A release does not say what tools made it.
 *
 * @throws TenonError `BUILD` with the place in the TypeScript when the module's top level throws
 */
export function snapshotComponentizer(terminal: Terminal, options: { readonly release: boolean }): Componentizer {
  const tools: [string, string][] = options.release ? [] : [["tenon", version]];
  return async (bundle) => {
    const engine = await prepareEngine(terminal);
    const source = await readFile(bundle.file);
    try {
      const { component, stateBytes, printed } = await fromNative(engine.build(basename(bundle.file), source, tools));
      if (printed.trim() !== "") terminal.say(printed.trimEnd());
      terminal.detail(`${stateBytes} bytes of the component are the handler's`);
      return component;
    } catch (error) {
      throw await topLevelError(error, bundle);
    }
  };
}

async function topLevelError(error: unknown, bundle: Bundle): Promise<unknown> {
  if (!(error instanceof TenonError)) return error;
  switch (error.code) {
    case "TOP_LEVEL":
      return explain(error.message, bundle);
    case "TOP_LEVEL_CALL":
    case "TOP_LEVEL_ENDLESS":
    case "TOP_LEVEL_MEMORY":
      return new TenonError("BUILD", error.message, topLevelHint, error);
    default:
      return error;
  }
}
