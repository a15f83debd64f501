import type { Node } from "oxc-parser";
import { declare, type Place, unwrap } from "./source-module.ts";

/**
 * What a function returns, if that is all it does: an arrow function's expression, or the one `return` of a body that
 * besides declares variables only. Undefined for any other function, and for what is none.
 */
export function returnedBy({ module, node }: Place): Place | undefined {
  const inner = unwrap(node);
  switch (inner.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression": {
      const { params, body } = inner;
      // Names are looked up as from inside: parameters hide the module's names, and variables stand for their values.
      const names = new Map(module.names);
      for (const name of params.flatMap(identifiers)) names.delete(name);
      const scope = { ...module, names };
      if (body?.type !== "BlockStatement") return body ? { module: scope, node: body } : undefined;
      const last = body.body.at(-1);
      for (const statement of body.body.slice(0, -1)) {
        if (statement.type !== "VariableDeclaration") return undefined;
        for (const { id } of statement.declarations) for (const name of identifiers(id)) names.delete(name);
        declare(statement, statement, names);
      }
      return last?.type === "ReturnStatement" && last.argument ? { module: scope, node: last.argument } : undefined;
    }
    default:
      return undefined;
  }
}

/** Every identifier in a pattern: also those of keys and defaults, which then hide more than they have to. */
function identifiers(pattern: Node): string[] {
  const found: string[] = [];
  JSON.stringify(pattern, (_key, value) => {
    if (value?.type === "Identifier") found.push(value.name);
    return typeof value === "bigint" ? undefined : value;
  });
  return found;
}
