import { type ArgumentNode, type CommandNode, everyCommand, type OptionNode, type Values } from "./tree.ts";

/** Writes the script for fish, to be sourced or installed as `~/.config/fish/completions/tenon.fish`. */
export function fishScript(root: CommandNode): string {
  const commands = everyCommand(root);
  return `# Completions of tenon for fish. To load them: tenon completions fish | source

# Returns whether the words so far are this command and this number of arguments; + means at least that number.
function __tenon_at
    set -l path
    set -l positional 0
    set -l skip 0
    set -l ended 0
    set -l words (commandline -poc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if test $ended = 0; and test "$word" = --
            set ended 1
        else if test $ended = 0; and string match -q -- '-*' "$word"
            contains -- "$path $word" ${quotedList(commands.flatMap(valuedOptions))}; and set skip 1
        else if test $positional = 0; and contains -- "$path $word" ${quotedList(commands.flatMap(subcommands))}
            set path "$path $word"
        else
            set positional (math $positional + 1)
        end
    end
    test "$path" = "$argv[1]"; or return 1
    switch $argv[2]
        case '*+'
            test $positional -ge (string trim -c + -- $argv[2])
        case '?'
            test $positional -eq $argv[2]
    end
end

function __tenon_components
    for file in modules/*.wasm dist/*.wasm
        string replace -r '^.*/(.*?)(-composed)?\\.wasm$' '$1' -- $file
    end | sort -u
    # It lists other files after those with the suffix.
    __fish_complete_suffix .wasm | string match -r '^.*(?:\\.wasm|/)(?:\\t.*)?$'
end

complete -c tenon -e
complete -c tenon -f
${commands.flatMap(lines).join("\n")}
`;
}

function lines(node: CommandNode): string[] {
  const place = [...(node.path.length === 0 ? [] : [""]), ...node.path].join(" ");
  return [
    ...node.commands.map(
      ({ path, summary }) =>
        `complete -c tenon -n ${condition(place, "0")} -a ${quoted(path.at(-1) ?? "")} -d ${quoted(summary)}`,
    ),
    ...node.options.map((option) => `complete -c tenon -n ${condition(place, "0+")} ${optionWords(option)}`),
    ...node.arguments.flatMap((argument, position) => argumentLines(place, argument, position)),
  ];
}

function condition(place: string, positional: string): string {
  return quoted(`__tenon_at ${quoted(place)} ${positional}`);
}

function optionWords({ flags, description, values }: OptionNode): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [...names, ...(values === undefined ? [] : [offer(values)]), `-d ${quoted(description)}`].join(" ");
}

function argumentLines(place: string, { variadic, values }: ArgumentNode, position: number): string[] {
  if (values.kind === "nothing") return [];
  const positional = variadic ? `${position}+` : String(position);
  return [`complete -c tenon -n ${condition(place, positional)} ${offer(values).replace(/^-[rx] /, "")}`];
}

function offer(values: Values): string {
  switch (values.kind) {
    case "words":
      return `-x -a ${quoted(values.words.join(" "))}`;
    case "files":
      return "-r -F";
    case "folders":
      return "-x -a '(__fish_complete_directories)'";
    case "components":
      return "-x -a '(__tenon_components)'";
    case "nothing":
      return "-x";
  }
}

function valuedOptions({ path, options }: CommandNode): string[] {
  const prefix = ["", ...path].join(" ");
  const flags = options.filter((option) => option.values !== undefined).flatMap((option) => option.flags);
  return flags.map((flag) => `${prefix} ${flag}`);
}

function subcommands({ commands }: CommandNode): string[] {
  return commands.map((command) => ["", ...command.path].join(" "));
}

function quotedList(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
