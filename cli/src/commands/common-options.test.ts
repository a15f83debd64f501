import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../program.ts";

/** The commands that do something by themselves, below a command. */
function leaves(command: Command): Command[] {
  const below = command.commands.filter((each) => each.name() !== "help");
  return below.length === 0 ? [command] : below.flatMap(leaves);
}

test.each(leaves(createProgram()).map((command) => [command.name(), command] as const))(
  "%s takes --quiet and --verbose",
  (_, command) => {
    const flags = command.options.map(({ flags }) => flags);
    expect(flags).toEqual(expect.arrayContaining(["-q, --quiet", "-v, --verbose"]));
  },
);
