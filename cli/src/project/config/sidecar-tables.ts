/** The tables of docs/sidecars.md that list kinds of sidecar and their options. */
import { readFileSync } from "node:fs";
import { sidecarKind, sidecarKindNames, sidecarOption, sidecarOptionKeys } from "../../embed/sidecar-kinds.ts";

const KINDS = "| kind | stores | source of the URL |";
const OPTIONS = "| option | kind | effect | default |";

const code = (text: string) => `\`${text}\``;

function kindRows(): string[] {
  return sidecarKindNames.map((name) => {
    const { stores, variable } = sidecarKind(name);
    return `| ${code(name)} | ${stores} | ${code(variable)}, ${code("--url-file")}, ${code("--url")} |`;
  });
}

function optionRows(): string[] {
  return sidecarOptionKeys.map((key) => {
    const { flags, sample = "", kinds, effect, default: usual } = sidecarOption(key);
    const flag = flags.split(" ")[0] ?? "";
    return `| ${code(flag + sample)} | ${kinds?.map(code).join(", ") ?? "all"} | ${effect} | ${usual}${usual === "" ? "" : " "}|`;
  });
}

/** Options that all sidecars have, the one over HTTP too, before and after those of the table. */
const before = [
  "| `--listen` | all | `unix:///run/name.sock` (mode 0660: give the runtime the socket's group), or `127.0.0.1:port` | |",
  "| `--token-file`, or `TENON_SIDECAR_TOKEN` | all | the bearer token that every request but `/health` must have; compared in constant time | none |",
  "| `--insecure` | all | listens without a token where other machines reach it, such as `0.0.0.0:7001`; refused otherwise | off |",
];
const behind = [
  '| `--json` | all | one line of JSON on standard output, once it listens: `{"kind":"sql","address":"unix:///run/db.sock"}` | |',
  "| `--drain` | all | milliseconds for which it goes on accepting after SIGTERM | 0 |",
  "| `--log-format` | all | `readable`, or `json`: each line is a JSON object | `readable` |",
  "| `-q`, `--quiet`, `-v`, `--verbose` | all | errors only; every detail | |",
];

/** The page with its tables as the code has them. */
export function sidecarsPage(): string {
  const page = readFileSync(new URL("../../../../docs/sidecars.md", import.meta.url), "utf8");
  return withTable(withTable(page, KINDS, kindRows()), OPTIONS, [...before, ...optionRows(), ...behind]);
}

/** Replaces the rows of the table with this head. */
function withTable(page: string, head: string, rows: readonly string[]): string {
  const lines = page.split("\n");
  const at = lines.indexOf(head);
  if (at < 0) throw new Error(`docs/sidecars.md has no table with the head ${head}`);
  const end = lines.indexOf("", at);
  return [...lines.slice(0, at + 2), ...rows, ...lines.slice(end)].join("\n");
}
