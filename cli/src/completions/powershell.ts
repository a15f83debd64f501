import { type ArgumentNode, type CommandNode, everyCommand, type OptionNode, type Values } from "./tree.ts";

/**
 * Writes the script for PowerShell 5.1 and later. Typed text is compared with words and never expanded: names of files are read
 * with `-LiteralPath`, or by the shell's own completion of paths.
 */
export function powershellScript(root: CommandNode): string {
  return `# Completions of tenon for PowerShell. To load them: tenon completions powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName tenon -ScriptBlock {
    param($current, $line, $cursor)

    # Commands by the words that lead to them.
    $commands = @{
${everyCommand(root).map(commandEntry).join("\n")}
    }

    $typed = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
    $path = ''
    $option = $null
    $positional = 0
    $ended = $false
    foreach ($word in @($typed | Select-Object -Skip 1)) {
        $command = $commands[$path]
        if ($null -ne $option) { $option = $null }
        elseif (-not $ended -and $word -ceq '--') { $ended = $true }
        elseif (-not $ended -and $word.StartsWith('-')) {
            $option = $command.Options | Where-Object { $_.Flags -ccontains $word -and $null -ne $_.Values }
        }
        elseif ($positional -eq 0 -and $commands.ContainsKey("$path $word")) { $path = "$path $word" }
        else { $positional++ }
    }
    $command = $commands[$path]
    $before = ''
    if ($null -eq $option -and -not $ended -and $current -cmatch '^(--[^=]+)=(.*)$') {
        $flag = $Matches[1]
        $before = "$flag="
        $current = $Matches[2]
        $option = $command.Options | Where-Object { $_.Flags -ccontains $flag -and $null -ne $_.Values }
        if ($null -eq $option) { return }
    }

    function Offer($text, $about, $kind) {
        if ($text.StartsWith($current, [StringComparison]::Ordinal)) {
            if (-not $about) { $about = $text }
            [System.Management.Automation.CompletionResult]::new("$before$text", $text, $kind, $about)
        }
    }
    function Paths($filter) {
        foreach ($each in [System.Management.Automation.CompletionCompleters]::CompleteFilename($current)) {
            if (& $filter $each) {
                $text = $before + $each.CompletionText
                [System.Management.Automation.CompletionResult]::new($text, $each.ListItemText, $each.ResultType, $each.ToolTip)
            }
        }
    }
    function Values($values) {
        $isFolder = { param($each) $each.ResultType -eq 'ProviderContainer' }
        switch ($values.Kind) {
            'words' { foreach ($each in $values.Words) { Offer $each '' 'ParameterValue' } }
            'files' { Paths { $true } }
            'folders' { Paths $isFolder }
            'components' {
                $built = @('modules', 'dist') | Where-Object { Test-Path -LiteralPath $_ } |
                    ForEach-Object { Get-ChildItem -LiteralPath $_ -Filter '*.wasm' -File } |
                    ForEach-Object { $_.Name -creplace '(-composed)?\\.wasm$', '' } | Sort-Object -Unique
                foreach ($each in $built) { Offer $each '' 'ParameterValue' }
                Paths { param($each) (& $isFolder $each) -or $each.ListItemText -clike '*.wasm' }
            }
        }
    }

    if ($null -ne $option) { Values $option.Values }
    elseif (-not $ended -and $current.StartsWith('-')) {
        foreach ($each in $command.Options) {
            foreach ($flag in $each.Flags) { Offer $flag $each.About 'ParameterName' }
        }
    }
    else {
        if ($positional -eq 0) {
            foreach ($each in $command.Commands) { Offer $each.Name $each.About 'Command' }
        }
        if ($command.Commands.Count -eq 0 -and $command.Arguments.Count -gt 0) {
            $last = $command.Arguments[-1]
            if ($positional -lt $command.Arguments.Count) { Values $command.Arguments[$positional].Values }
            elseif ($last.Variadic) { Values $last.Values }
        }
    }
}
`;
}

function commandEntry({ path, commands, options, arguments: list }: CommandNode): string {
  const names = commands.map(
    (each) => `@{ Name = ${quoted(each.path.at(-1) ?? "")}; About = ${quoted(each.summary)} }`,
  );
  return `        ${quoted(["", ...path].join(" "))} = @{
            Commands = ${array(names)}
            Options = ${array(options.map(optionEntry))}
            Arguments = ${array(list.map(argumentEntry))}
        }`;
}

function optionEntry({ flags, description, values }: OptionNode): string {
  const entry = `Flags = ${array(flags.map(quoted), " ")}; About = ${quoted(description)}`;
  return `@{ ${entry}; Values = ${values === undefined ? "$null" : valuesEntry(values)} }`;
}

function argumentEntry({ variadic, values }: ArgumentNode): string {
  return `@{ Variadic = ${variadic ? "$true" : "$false"}; Values = ${valuesEntry(values)} }`;
}

function valuesEntry(values: Values): string {
  const words = values.kind === "words" ? `; Words = ${array(values.words.map(quoted), " ")}` : "";
  return `@{ Kind = ${quoted(values.kind)}${words} }`;
}

/** Writes an array, which has one element a line where there are lines. */
function array(elements: readonly string[], space = `\n${" ".repeat(16)}`): string {
  if (elements.length === 0) return "@()";
  return space === " " ? `@(${elements.join(", ")})` : `@(${space}${elements.join(space)}\n${" ".repeat(12)})`;
}

/** Quotes a text as one word that PowerShell does not expand. It takes typographic quotes for plain ones. */
function quoted(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, "$&$&").replaceAll("\n", " ")}'`;
}
