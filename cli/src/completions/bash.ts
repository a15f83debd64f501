import { type CommandNode, everyCommand, type Values } from "./tree.ts";

/**
 * Writes the script for bash, 3.2 and later. It does not need the package bash-completion. Typed text is only compared
 * with words and never expanded, because `compgen -W` and `eval` would run a `$(…)` in it.
 */
export function bashScript(root: CommandNode): string {
  const commands = everyCommand(root);
  return `# Completions of tenon for bash. To load them: source <(tenon completions bash)

_tenon() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= option= positional=0 ended= index=1 word
  local subcommands options valued IFS=$' \\t\\n'
  COMPREPLY=()
  _tenon_command "$path"
  while [ "$index" -lt "$COMP_CWORD" ]; do
    word=\${COMP_WORDS[index]}
    index=$((index + 1))
    if [ -n "$option" ]; then
      # bash splits --port=80 into three words.
      [ "$word" = "=" ] || option=
    elif [ -z "$ended" ] && [ "$word" = "--" ]; then
      ended=1
    elif [ -z "$ended" ] && [ "\${word#-}" != "$word" ]; then
      _tenon_among "$word" $valued && option=$word
    elif [ "$positional" -eq 0 ] && _tenon_among "$word" $subcommands; then
      path="$path $word"
      _tenon_command "$path"
    else
      positional=$((positional + 1))
    fi
  done
  [ "$current" != "=" ] || [ -z "$option" ] || current=
  if [ -n "$option" ]; then
    _tenon_value "$path" "$option"
  elif [ -z "$ended" ] && [ "\${current#-}" != "$current" ]; then
    _tenon_words $options
  elif [ "$positional" -eq 0 ] && [ -n "$subcommands" ]; then
    _tenon_words $subcommands
  else
    _tenon_argument "$path" "$positional"
  fi
}

# Candidates of each command.
_tenon_command() {
  subcommands= options= valued=
  case $1 in
${commands.map(commandCase).join("\n")}
  esac
}

# Candidates for an option's value.
_tenon_value() {
  case "$1 $2" in
${commands.flatMap(valueCases).join("\n")}
  *) ;;
  esac
}

# Candidates for an argument, by its position.
_tenon_argument() {
  case "$1 $2" in
${commands.flatMap(argumentCases).join("\n")}
  *) ;;
  esac
}

_tenon_among() {
  local wanted=$1 each
  shift
  for each in "$@"; do [ "$each" != "$wanted" ] || return 0; done
  return 1
}

_tenon_words() {
  local each
  for each in "$@"; do
    case $each in "$current"*) COMPREPLY[\${#COMPREPLY[@]}]=$each ;; esac
  done
}

_tenon_paths() {
  local each
  while IFS= read -r each; do COMPREPLY[\${#COMPREPLY[@]}]=$each; done < <(compgen "$@" -- "$current")
  compopt -o filenames 2> /dev/null || true
}

_tenon_components() {
  local file
  while IFS= read -r file; do
    file=\${file##*/}
    file=\${file%.wasm}
    file=\${file%-composed}
    _tenon_among "$file" \${COMPREPLY[@]+"\${COMPREPLY[@]}"} || _tenon_words "$file"
  done < <(
    compgen -G 'modules/*.wasm'
    compgen -G 'dist/*.wasm'
  )
  _tenon_paths -f -X '!*.wasm'
  _tenon_paths -d
}

complete -F _tenon tenon
`;
}

function commandCase({ path, commands, options }: CommandNode): string {
  const flags = options.flatMap((option) => option.flags);
  const valued = options.filter((option) => option.values !== undefined).flatMap((option) => option.flags);
  const names = commands.map((command) => command.path.at(-1) ?? "");
  const set = `subcommands=${quoted(names)} options=${quoted(flags)} valued=${quoted(valued)}`;
  return `  ${quoted(["", ...path])}) ${set} ;;`;
}

function valueCases({ path, options }: CommandNode): string[] {
  return options.flatMap(({ flags, values }) => {
    if (values === undefined || values.kind === "nothing") return [];
    return [`  ${flags.map((flag) => quoted(["", ...path, flag])).join(" | ")}) ${offer(values)} ;;`];
  });
}

function argumentCases({ path, arguments: list }: CommandNode): string[] {
  return list.flatMap(({ variadic, values }, position) => {
    if (values.kind === "nothing") return [];
    const pattern = variadic ? `${quoted(["", ...path, ""])}*` : quoted(["", ...path, String(position)]);
    return [`  ${pattern}) ${offer(values)} ;;`];
  });
}

function offer(values: Values): string {
  switch (values.kind) {
    case "words":
      return `_tenon_words ${values.words.map((word) => quoted([word])).join(" ")}`;
    case "files":
      return "_tenon_paths -f";
    case "folders":
      return "_tenon_paths -d";
    case "components":
      return "_tenon_components";
    case "nothing":
      return ":";
  }
}

/** Quotes words as one word of the shell. */
function quoted(words: readonly string[]): string {
  return `'${words.join(" ").replaceAll("'", "'\\''")}'`;
}
