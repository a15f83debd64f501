import type { Command } from "commander";
import { nearest } from "../nearest.ts";

/** `tenon help`, and `help` below a command that has commands of its own. Commander's own takes one word and ignores unknown ones. */
export function helpCommand(parent: Command): void {
  parent
    .command("help")
    .summary("print help for a command")
    .description("Prints the help of a command: tenon help build, tenon help sidecar sql.")
    .argument("[command...]", "the command; all of them are listed when left out")
    .action((words: readonly string[]) => {
      let shown = parent;
      for (const word of words) shown = commandOf(shown, word);
      shown.help();
    });
}

function commandOf(parent: Command, word: string): Command {
  const found = parent.commands.find((each) => each.name() === word);
  if (found !== undefined) return found;
  const near = nearest(
    word,
    parent.commands.map((each) => each.name()),
  );
  return parent.error(`error: unknown command '${word}'${near === undefined ? "" : `\n(Did you mean ${near}?)`}`);
}
