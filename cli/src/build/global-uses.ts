/** Finds the globals that a source uses, for the modules that define them. */
import { type Node, parseSync } from "oxc-parser";

/** The expressions that count as a use of a global. */
interface Uses {
  /** Members of the global object, and of a variable that is set to it with "aliased". */
  readonly members: "none" | "direct" | "aliased";
}

/** The objects whose properties are the globals. */
const scopeNames: ReadonlySet<string> = new Set(["globalThis", "self", "window", "global"]);

/** TypeScript's nodes that are code, or have some in them; the others are types. */
const code =
  /^TS(?:As|Satisfies|NonNull|Instantiation)Expression$|^TS(?:TypeAssertion|ExportAssignment|ParameterProperty)$|^TS(?:Enum|Module)/;

/**
 * Returns those of the names that a source may use as globals. A name that the source declares itself counts, too,
 * because that costs only bytes; a name in a type, a comment or a text does not.
 */
export function globalsIn(
  file: string,
  text: string,
  names: ReadonlySet<string>,
  { members }: Uses,
): ReadonlySet<string> {
  const found = new Set<string>();
  const followsAliases = members === "aliased";
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) return found;
  const scopes = new Set(scopeNames);
  const isScope = (node: Node | null): boolean => node?.type === "Identifier" && scopes.has(node.name);
  const visit = (node: Node): void => {
    if (node.type.startsWith("TS") && !code.test(node.type)) return;
    if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") return;
    const fields = node as unknown as Record<string, unknown>;
    const isNamed = "computed" in fields && fields["computed"] === false;
    if (node.type === "Identifier" && names.has(node.name)) found.add(node.name);
    if (node.type === "MemberExpression" && members !== "none") noteMember(node);
    // var platform = globalThis, by which the SDK names globals
    if (followsAliases && node.type === "VariableDeclarator" && isScope(node.init)) noteAlias(node.id);
    // The bundler assigns in modules that it makes lazy.
    if (followsAliases && node.type === "AssignmentExpression" && isScope(node.right)) noteAlias(node.left);
    for (const [field, value] of Object.entries(fields)) {
      if (isNamed && (field === "property" || (field === "key" && node.type !== "Property"))) continue;
      if (isNamed && field === "key" && fields["shorthand"] !== true) continue;
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== null && typeof each === "object" && typeof each.type === "string") visit(each as Node);
      }
    }
  };
  const noteAlias = (node: Node): void => {
    if (node.type === "Identifier") scopes.add(node.name);
    if (node.type === "ObjectPattern") for (const each of node.properties) noteProperty(each);
  };
  const noteProperty = (node: Node): void => {
    if (node.type === "Property" && node.key.type === "Identifier" && names.has(node.key.name))
      found.add(node.key.name);
  };
  const noteMember = (node: Extract<Node, { type: "MemberExpression" }>): void => {
    const { object, property } = node;
    const name =
      property.type === "Literal" ? String(property.value) : property.type === "Identifier" ? property.name : undefined;
    if (name === undefined || (node.computed && property.type === "Identifier")) return;
    if (isScope(object) && names.has(name)) found.add(name);
  };
  // A function may use an alias that is made after it.
  let known: number;
  do {
    known = scopes.size;
    visit(program as unknown as Node);
  } while (scopes.size > known);
  return found;
}
