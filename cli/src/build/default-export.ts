/** The place of a handler module's default export, for errors about it. */
import { readFile } from "node:fs/promises";
import { type Node, parseSync } from "oxc-parser";

/** The exported expression and its place. Lines and columns count from 1. */
export interface DefaultExport {
  readonly line: number;
  readonly column: number;
  /** The text of the line. */
  readonly text: string;
  /** The expression as it is written. */
  readonly code: string;
}

/** Finds the default export of a source; undefined when there is none, such as in CommonJS, or it cannot be parsed. */
export async function defaultExportOf(file: string): Promise<DefaultExport | undefined> {
  const source = await readFile(file, "utf8").catch(() => "");
  const { program } = parseSync(file, source);
  const found = program.body.map(exportedBy).find((node) => node !== undefined);
  if (found === undefined) return undefined;
  const before = source.slice(0, found.start).split("\n");
  const line = before.length;
  const column = (before.at(-1) ?? "").length + 1;
  const text = (source.split("\n")[line - 1] ?? "").replace(/\r$/, "");
  return { line, column, text, code: source.slice(found.start, found.end) };
}

/** The exported node of `export default …` and `export { … as default }`. */
function exportedBy(statement: Node): Node | undefined {
  if (statement.type === "ExportDefaultDeclaration") return statement.declaration;
  if (statement.type !== "ExportNamedDeclaration") return undefined;
  return statement.specifiers.find(
    ({ exported }) => (exported.type === "Literal" ? exported.value : exported.name) === "default",
  );
}
