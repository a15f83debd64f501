import type { ArgumentNode, CommandNode, OptionNode, Values } from "./tree.ts";

/** Writes the script for zsh, to be sourced or installed in `$fpath` as `_tenon`. */
export function zshScript(root: CommandNode): string {
  return `#compdef tenon
# Completions of tenon for zsh. To load them: source <(tenon completions zsh)

${functions(root)}
_tenon_components() {
  local -a names
  names=(modules/*.wasm(N:t:r) dist/*.wasm(N:t:r))
  names=(\${(u)names%-composed})
  compadd -J modules -- $names
  _files -g '*.wasm'
}

if [[ $funcstack[1] == _tenon ]]; then
  _tenon "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _tenon tenon
fi
`;
}

/** Writes a function for each command, subcommands first. */
function functions(node: CommandNode): string {
  const below = node.commands.map(functions).join("");
  const options = node.options.map(optionSpec);
  const body =
    node.commands.length === 0 ? leaf([...options, ...node.arguments.map(argumentSpec)]) : branch(node, options);
  return `${below}${nameOf(node)}() {\n${body}}\n\n`;
}

function leaf(specs: readonly string[]): string {
  return `  _arguments -s -S ${specs.map((spec) => `\\\n    ${spec}`).join(" ")}\n`;
}

function branch({ commands }: CommandNode, options: readonly string[]): string {
  const names = commands.map(({ path, summary }) => quoted(`${path.at(-1)}:${summary.replaceAll(":", "\\:")}`));
  const cases = commands.map((command) => `      ${command.path.at(-1)}) ${nameOf(command)} ;;`);
  return `  local context state state_descr line
  typeset -A opt_args
  _arguments -C -S ${[...options, "': :->command'", "'*:: :->arguments'"].map((spec) => `\\\n    ${spec}`).join(" ")}
  case $state in
    command)
      local -a commands
      commands=(${names.map((name) => `\n        ${name}`).join("")}
      )
      _describe -t commands command commands
      ;;
    arguments)
      case $words[1] in
${cases.join("\n")}
      esac
      ;;
  esac
`;
}

function nameOf({ path }: CommandNode): string {
  return ["_tenon", ...path].join("_").replaceAll("-", "_");
}

/** Formats an option for zshcompsys(1), `_arguments`: `(-p --port)-p+[port to listen on]:number:` for each flag. */
function optionSpec({ flags, description, values, placeholder }: OptionNode): string {
  const others = flags.length > 1 ? `(${flags.join(" ")})` : "";
  const text = `[${description.replaceAll("\\", "\\\\").replaceAll("]", "\\]").replaceAll("[", "\\[")}]`;
  const value = values === undefined ? "" : `:${placeholder}:${action(values)}`;
  return flags
    .map((flag) => {
      const attached = values === undefined ? "" : flag.startsWith("--") ? "=" : "+";
      return quoted(`${others}${flag}${attached}${text}${value}`);
    })
    .join(" ");
}

function argumentSpec({ name, variadic, values }: ArgumentNode): string {
  return quoted(`${variadic ? "*" : ""}:${name}:${action(values)}`);
}

function action(values: Values): string {
  switch (values.kind) {
    case "words":
      return `(${values.words.map((word) => word.replaceAll(/[^A-Za-z0-9_.-]/g, "\\$&")).join(" ")})`;
    case "files":
      return "_files";
    case "folders":
      return "_files -/";
    case "components":
      return "_tenon_components";
    case "nothing":
      // A space is an action without candidates.
      return " ";
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
