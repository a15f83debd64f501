import type { Argument, Command, Option } from "commander";

/** Candidates for a value. */
export type Values =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "files" }
  | { readonly kind: "folders" }
  /** Files ending in `.wasm`, and the names of the project's modules. */
  | { readonly kind: "components" }
  | { readonly kind: "nothing" };

/** An option. */
export interface OptionNode {
  /** `-p` and `--port`, or one of them. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Candidates for its value; undefined when it has no value. */
  readonly values: Values | undefined;
  readonly placeholder: string;
}

/** An argument by position. */
export interface ArgumentNode {
  readonly name: string;
  readonly variadic: boolean;
  readonly values: Values;
}

/** A command and its subcommands. */
export interface CommandNode {
  /** The words before its own arguments, without the program's name: `["sidecar", "sql"]`. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly OptionNode[];
  readonly arguments: readonly ArgumentNode[];
  readonly commands: readonly CommandNode[];
}

/**
 * Extracts the parts of the commander tree that a completion script needs. A value's kind follows from its placeholder
 * (`<file>`, `<folder>`, `[component...]`) or its choices.
 */
export function commandTree(command: Command, path: readonly string[] = []): CommandNode {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const names = commands.map((each) => each.name());
  return {
    path,
    summary: command.summary() || command.description(),
    options: help.visibleOptions(command).map((option) => optionNode(option)),
    arguments: command.registeredArguments.map(argumentNode),
    commands: commands.map((each) => {
      const node = commandTree(each, [...path, each.name()]);
      // The argument of `help` is a command of its parent.
      return each.name() === "help" ? { ...node, arguments: [helpArgument(names)] } : node;
    }),
  };
}

/** Lists all commands of a tree, from the root down. */
export function everyCommand(node: CommandNode): CommandNode[] {
  return [node, ...node.commands.flatMap(everyCommand)];
}

function helpArgument(names: readonly string[]): ArgumentNode {
  return {
    name: "command",
    variadic: false,
    values: { kind: "words", words: names.filter((name) => name !== "help") },
  };
}

function optionNode(option: Option): OptionNode {
  const [, placeholder = ""] = /[<[]([^\]>]+?)(?:\.\.\.)?[\]>]/.exec(option.flags) ?? [];
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    description: option.description,
    values: option.required || option.optional ? valuesOf(placeholder, option.argChoices) : undefined,
    placeholder,
  };
}

function argumentNode(argument: Argument): ArgumentNode {
  return {
    name: argument.name(),
    variadic: argument.variadic,
    values: valuesOf(argument.name(), argument.argChoices),
  };
}

function valuesOf(placeholder: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined && choices.length > 0) return { kind: "words", words: choices };
  switch (placeholder) {
    case "file":
      return { kind: "files" };
    case "folder":
      return { kind: "folders" };
    case "component":
      return { kind: "components" };
    default:
      return { kind: "nothing" };
  }
}
