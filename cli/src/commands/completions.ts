import { Argument, type Command } from "commander";
import { bashScript } from "../completions/bash.ts";
import { fishScript } from "../completions/fish.ts";
import { powershellScript } from "../completions/powershell.ts";
import { type CommandNode, commandTree } from "../completions/tree.ts";
import { zshScript } from "../completions/zsh.ts";
import { withCommonOptions } from "../options.ts";

const scripts: Readonly<Record<string, (root: CommandNode) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/** `tenon completions`: a script for the shell, made from the commands as they are declared. */
export function completionsCommand(program: Command): void {
  const command = program
    .command("completions")
    .summary("print completions for a shell")
    .description(
      "Prints a script that completes commands, options and their values. To load it:\n" +
        "  bash: source <(tenon completions bash)\n" +
        "  zsh:  source <(tenon completions zsh)\n" +
        "  fish: tenon completions fish | source\n" +
        "  PowerShell: tenon completions powershell | Out-String | Invoke-Expression",
    )
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(scripts)));
  withCommonOptions(command).action((shell: string) => {
    process.stdout.write(scripts[shell]?.(commandTree(program)) ?? "");
  });
}
