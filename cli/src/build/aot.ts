/** The componentizer of `--aot`: weval specializes the engine's interpreter to the handler. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { SpecializableEngine } from "@tenon/native";
import { fromNative } from "../native.ts";
import type { Terminal } from "../terminal.ts";
import type { Componentizer } from "./componentize.ts";
import { requireHandled, topLevelError } from "./explain.ts";
import { specialize } from "./weval.ts";

/**
 * The way of `--aot`: as `snapshot.ts`, with an engine whose interpreter weval specializes to the functions of the handler
 * before a component is made of it. Such a component has code of its own.
 *
 * @throws TenonError `BUILD` with the place in the TypeScript when the module's top level fails, `WEVAL` when weval fails
 */
export function aotComponentizer(weval: string, engine: SpecializableEngine, terminal: Terminal): Componentizer {
  return async (bundle) => {
    const source = await readFile(bundle.file);
    try {
      const { module, printed } = await fromNative(engine.snapshot(basename(bundle.file), source));
      await requireHandled(printed, bundle);
      if (printed.trim() !== "") terminal.say(printed.trimEnd());
      const specialized = await specialize(weval, module);
      terminal.detail(`${specialized.byteLength - module.byteLength} bytes of the component are specialized functions`);
      return await fromNative(engine.component(specialized, [...bundle.linked]));
    } catch (error) {
      throw await topLevelError(error, bundle);
    }
  };
}
