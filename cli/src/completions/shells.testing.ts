import { spawnSync } from "node:child_process";
import type { Needs } from "../../../testing/needs.ts";

/** A shell under test. It returns the words that it offers for a line with the cursor at its end. */
export interface Shell {
  readonly name: "bash" | "zsh" | "fish";
  readonly needs: Needs;
  offers(script: string, line: string, folder: string): string[];
}

/** The shells with completions. Each runs without a user's settings. */
export const shells: readonly Shell[] = [
  { name: "bash", needs: "bash", offers: inBash },
  // bash writes zsh's input.
  { name: "zsh", needs: ["zsh", "bash"], offers: inZsh },
  { name: "fish", needs: "fish", offers: inFish },
];

/** Splits the line like readline, with `=` as a separate word, and calls the completion function. */
function inBash(script: string, line: string, folder: string): string[] {
  const words = line.split(" ").flatMap((word) => word.split(/(=)/).filter((part) => part !== ""));
  if (line.endsWith(" ")) words.push("");
  return run(
    "bash",
    ["--noprofile", "--norc", "-u", "-c"],
    `source "$0"; source "$0"
     COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
     complete -p tenon > /dev/null && _tenon && for each in \${COMPREPLY[@]+"\${COMPREPLY[@]}"}; do printf '%s\\n' "$each"; done`,
    [script, ...words],
    folder,
  );
}

function inFish(script: string, line: string, folder: string): string[] {
  const program = `source $argv[1]; source $argv[1]; complete -C "$argv[2]"`;
  const found = run("fish", ["--no-config", "-c"], program, [script, line], folder);
  return found.map((each) => each.split("\t")[0] ?? "");
}

/**
 * Types the line and a tab into an interactive zsh on a terminal of its own (zpty). Completion functions print their
 * candidates between the marks instead of showing them.
 */
function inZsh(script: string, line: string, folder: string): string[] {
  const program = `
    zmodload zsh/zpty
    zpty inner "cd \${(q)2} && zsh -f -i"
    zpty -w inner 'source '\${(q)3}
    # The line editor must have started before the keys arrive, or the terminal echoes them as text.
    zpty -r -m inner said '*READY*' > /dev/null || exit 1
    zpty -w -n inner "$1"$'\\t'
    zpty -r -m inner said '*<<END>>*' || exit 1
    print -r -- "$said"
    zpty -d inner`;
  const setUp = `
    PROMPT= RPROMPT=
    autoload -Uz compinit && compinit -u -d ${quoted(`${script}.compdump`)}
    source ${quoted(script)}; source ${quoted(script)}
    zstyle ':completion:*' insert-tab false
    zstyle ':completion:*' verbose no
    bindkey '^I' complete-word
    compadd() {
      if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
      local -a hits
      builtin compadd -A hits "$@"
      for each in $hits; do print -r -- "<<$each>>"; done
      builtin compadd "$@"
    }
    start() { print; print -r -- '<<'"BEGIN>>" }
    finish() { print -r -- '<<'"END>>"; exit }
    compprefuncs=(start) comppostfuncs=(finish)
    zle-line-init() { print REA''DY }
    zle -N zle-line-init`;
  const file = `${script}.set-up`;
  run("bash", ["-c"], 'cat > "$0" <<< "$1"', [file, setUp], folder);
  const said = run("zsh", ["-f", "-c"], program, ["zsh", line, folder, file], folder).join("\n");
  const [, added = ""] = /<<BEGIN>>([\s\S]*)<<END>>/.exec(said) ?? [];
  return [...new Set([...added.matchAll(/<<(.*?)>>/g)].map(([, word]) => word ?? ""))];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function run(shell: string, options: string[], program: string, args: string[], cwd: string): string[] {
  const { stdout, stderr, status } = spawnSync(shell, [...options, program, ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: cwd, TERM: "xterm", LC_ALL: "C.UTF-8" },
    timeout: 20_000,
  });
  if (stderr !== "") throw new Error(`${shell} (${status}) said: ${stderr}`);
  return stdout.split(/\r?\n/).filter((each) => each !== "");
}
