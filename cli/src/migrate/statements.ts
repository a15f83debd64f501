/** A quoted text, a comment, a dollar-quoted text (PostgreSQL), the end of a statement, or any other character. */
const PIECE =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|;|[A-Za-z_]\w*|[\s\S]/g;

/** The start of a statement whose body has its own statements between BEGIN and END. */
const TRIGGER = /^\s*create\s+(?:temp\s+|temporary\s+)?trigger\b/i;

/**
 * Splits a file into statements. A semicolon in a text, a comment, a dollar-quoted body or a trigger of SQLite ends
 * none.
 */
export function statementsOf(text: string): string[] {
  const statements: string[] = [];
  let statement = "";
  let depth = 0;
  const end = () => {
    if (statement.trim() !== "") statements.push(statement.trim());
    [statement, depth] = ["", 0];
  };
  for (const [piece] of text.matchAll(PIECE)) {
    if (piece === ";" && depth === 0) end();
    else if (!piece.startsWith("--") && !piece.startsWith("/*")) statement += piece;
    if (/^(?:begin|case)$/i.test(piece) && TRIGGER.test(statement)) depth += 1;
    if (/^end$/i.test(piece) && depth > 0) depth -= 1;
  }
  end();
  return statements;
}
