/** Finds the globals that a source uses, for the polyfills that they need. */
import { type Node, parseSync } from "oxc-parser";

/** The objects whose properties are the globals. */
const scopes: ReadonlySet<string> = new Set(["globalThis", "self", "window", "global"]);

/** TypeScript's nodes that are code, or have some in them; the others are types. */
const code =
  /^TS(?:As|Satisfies|NonNull|Instantiation)Expression$|^TS(?:TypeAssertion|ExportAssignment|ParameterProperty)$|^TS(?:Enum|Module)/;

/**
 * Returns those of the names that a source may use as globals or as members. A name that the source declares itself counts, too,
 * because that costs only bytes; a name in a type, a comment or a text does not.
 *
 * @param members names that count as a member of any object, such as the methods of a class
 */
export function globalsIn(
  file: string,
  text: string,
  names: ReadonlySet<string>,
  members: ReadonlySet<string>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) return found;
  const visit = (node: Node): void => {
    if (node.type.startsWith("TS") && !code.test(node.type)) return;
    if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") return;
    const fields = node as unknown as Record<string, unknown>;
    const isNamed = "computed" in fields && fields["computed"] === false;
    if (node.type === "Identifier" && names.has(node.name)) found.add(node.name);
    if (node.type === "MemberExpression") noteMember(node);
    if (node.type === "Property") {
      const { key } = node;
      // const { fetch } = globalThis
      if (key.type === "Identifier" && members.has(key.name)) found.add(key.name);
    }
    for (const [field, value] of Object.entries(fields)) {
      if (isNamed && (field === "property" || (field === "key" && node.type !== "Property"))) continue;
      if (isNamed && field === "key" && fields["shorthand"] !== true) continue;
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== null && typeof each === "object" && typeof each.type === "string") visit(each as Node);
      }
    }
  };
  const noteMember = (node: Extract<Node, { type: "MemberExpression" }>): void => {
    const { object, property } = node;
    const name =
      property.type === "Literal" ? String(property.value) : property.type === "Identifier" ? property.name : undefined;
    if (name === undefined || (node.computed && property.type === "Identifier")) return;
    const isOfScope = object.type === "Identifier" && scopes.has(object.name);
    if (members.has(name) || (isOfScope && names.has(name))) found.add(name);
  };
  visit(program as unknown as Node);
  return found;
}
