/** Reads JSON as the tools of JavaScript's projects do: with a byte order mark, comments, and commas at the end. */
import { type Node, parseSync } from "oxc-parser";
import { readTextFile } from "../text-file.ts";

/** The value in a file; undefined when it is missing or cannot be read as such JSON. */
export function readJsonWithComments(file: string): unknown {
  let text: string;
  try {
    text = readTextFile(file);
  } catch {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    const { program, errors } = parseSync("config.js", `(${text}\n)`);
    const [statement] = program.body;
    if (errors.length > 0 || statement?.type !== "ExpressionStatement") return undefined;
    return evaluated(statement.expression as unknown as Node);
  }
}

function evaluated(node: Node): unknown {
  switch (node.type) {
    case "ParenthesizedExpression":
      return evaluated(node.expression as unknown as Node);
    case "Literal":
      return node.value;
    case "ArrayExpression":
      return node.elements.map((each) => (each === null ? null : evaluated(each as unknown as Node)));
    case "ObjectExpression":
      return Object.fromEntries(
        node.properties.flatMap((each) => {
          if (each.type !== "Property" || each.key.type !== "Literal") return [];
          return [[String(each.key.value), evaluated(each.value as unknown as Node)]];
        }),
      );
    default:
      return undefined;
  }
}
