import type { Node } from "oxc-parser";
import { declare, type ModuleNode, unwrap } from "./source-module.ts";

/**
 * The returned expression of a function that returns at its end only: an arrow function's expression, or the last
 * statement of a body that otherwise declares variables and functions and calls others. Undefined for any other function
 * or value.
 */
export function returnedBy({ module, node }: ModuleNode): ModuleNode | undefined {
  const inner = unwrap(node);
  switch (inner.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression": {
      const { params, body } = inner;
      // Names are resolved inside the function: parameters hide the module's names, and variables have their values.
      const names = new Map(module.names);
      for (const name of params.flatMap(identifiers)) names.delete(name);
      const scope = { ...module, names };
      if (body?.type !== "BlockStatement") return body ? { module: scope, node: body } : undefined;
      const last = body.body.at(-1);
      for (const statement of body.body.slice(0, -1)) {
        if (!STRAIGHT.has(statement.type)) return undefined;
        for (const { id } of statement.type === "VariableDeclaration" ? statement.declarations : [])
          for (const name of identifiers(id)) names.delete(name);
        declare(statement, statement, names);
      }
      return last?.type === "ReturnStatement" && last.argument ? { module: scope, node: last.argument } : undefined;
    }
    default:
      return undefined;
  }
}

/** The statements that can't return from the function around them. */
const STRAIGHT: ReadonlySet<string> = new Set(["VariableDeclaration", "FunctionDeclaration", "ExpressionStatement"]);

/** Every identifier in a pattern. It includes keys and defaults, which hide more names than necessary. */
function identifiers(pattern: Node): string[] {
  const found: string[] = [];
  JSON.stringify(pattern, (_key, value) => {
    if (value?.type === "Identifier") found.push(value.name);
    return typeof value === "bigint" ? undefined : value;
  });
  return found;
}
