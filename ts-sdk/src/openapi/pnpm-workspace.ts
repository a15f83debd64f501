/**
 * The patterns below `packages` in the text of a `pnpm-workspace.yaml`; undefined when it has none, as in a file with
 * settings only. It reads the common subset of YAML: a list of plain or quoted texts with comments, in block or in flow
 * style.
 */
export function pnpmPackages(text: string): string[] | undefined {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => key.test(line));
  if (start < 0) return undefined;
  const rest = (lines[start] ?? "").replace(key, "");
  const flow = /^\s*\[/.test(rest);
  const body = [rest, ...lines.slice(start + 1)];
  return flow ? flowItems(body.map(withoutComment).join("\n")) : blockItems(body.slice(1));
}

const key = /^(?:packages|"packages"|'packages')\s*:/;

/** An item is quoted, or ends at a comment or, in flow style, at the next item. */
const quoted = `"((?:[^"\\\\]|\\\\.)*)"|'((?:[^']|'')*)'`;
const blockItem = new RegExp(`^\\s*-\\s+(?:${quoted}|([^"'#\\s].*?))\\s*(?:\\s#.*)?$`);
const flowItem = new RegExp(`(?:${quoted}|([^"'\\s,[\\]][^,\\]\\n]*?))\\s*(?:,|$)`, "g");

function blockItems(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const item = blockItem.exec(line);
    // Another key ends the list.
    if (item === null) break;
    items.push(textOf(item));
  }
  return items;
}

function flowItems(text: string): string[] {
  const inside = /^\s*\[([^\]]*)\]/.exec(text)?.[1] ?? "";
  return [...inside.trim().matchAll(flowItem)].map(textOf);
}

function withoutComment(line: string): string {
  return line.replace(/(^|\s)#.*$/, "");
}

function textOf([, double, single, plain = ""]: readonly (string | undefined)[]): string {
  if (double !== undefined) return double.replace(/\\(.)/g, "$1");
  return single?.replaceAll("''", "'") ?? plain;
}
