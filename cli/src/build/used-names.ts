/** Finds the names that a module takes from the modules that it imports. */
import { readFile } from "node:fs/promises";
import { type Node, parseSync } from "oxc-parser";

/** One use of a module: a name that is taken from it, or the call of `require` itself. */
export interface Use {
  readonly specifier: string;
  /** `import` for a named import, `member` for a property of the whole module. */
  readonly kind: "import" | "member" | "require";
  readonly name: string;
  /** True when the call stands in a `try`. */
  readonly isTried: boolean;
  /** Counts from 1. */
  readonly line: number;
  /** In bytes, from 0, as esbuild counts. */
  readonly column: number;
  readonly lineText: string;
}

/** Returns the names that a file takes from the modules it imports or requires; none for a file that does not parse. */
export type UsesOf = (file: string) => Promise<readonly Use[]>;

/** A {@link UsesOf} that reads and parses each file once. */
export function usesReader(): UsesOf {
  const known = new Map<string, Promise<readonly Use[]>>();
  return (file) => {
    let uses = known.get(file);
    if (uses === undefined) {
      uses = readFile(file, "utf8").then(
        (text) => usesIn(file, text),
        () => [],
      );
      known.set(file, uses);
    }
    return uses;
  };
}

function usesIn(file: string, text: string): readonly Use[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) return [];
  const found: (Pick<Use, "specifier" | "kind" | "name" | "isTried"> & { at: number })[] = [];
  /** Local names of whole modules. */
  const modules = new Map<string, string>();

  walk(program as unknown as Node, [], (node, above) => {
    const note = (specifier: string, kind: Use["kind"], name: string, at: number) =>
      found.push({ specifier, kind, name, at, isTried: above.some(isTryOf(node)) });
    if (node.type === "ImportDeclaration") {
      const specifier = node.source.value;
      if (node.importKind === "type") return;
      for (const each of node.specifiers) {
        if (each.type !== "ImportSpecifier") modules.set(each.local.name, specifier);
        else if (each.importKind !== "type") {
          const name = each.imported.type === "Literal" ? each.imported.value : each.imported.name;
          if (name === "default") modules.set(each.local.name, specifier);
          else note(specifier, "import", name, each.start);
        }
      }
    }
    if (node.type === "ExportNamedDeclaration" && node.source) {
      const specifier = node.source.value;
      for (const { local } of node.specifiers) {
        const name = local.type === "Literal" ? local.value : local.name;
        if (name !== "default") note(specifier, "import", name, local.start);
      }
    }
    const required = requiredBy(node);
    if (required !== undefined) note(required, "require", "", node.start);
    if (node.type === "VariableDeclarator" && node.init) {
      const specifier = wholeModule(node.init);
      if (specifier === undefined) return;
      if (node.id.type === "Identifier") modules.set(node.id.name, specifier);
      if (node.id.type === "ObjectPattern")
        for (const property of node.id.properties)
          if (property.type === "Property" && property.key.type === "Identifier" && !property.computed)
            note(specifier, "member", property.key.name, property.start);
    }
    if (node.type === "MemberExpression" && !node.computed && node.property.type === "Identifier") {
      const specifier = wholeModule(node.object);
      if (specifier !== undefined && node.property.name !== "default")
        note(specifier, "member", node.property.name, node.property.start);
    }
  });
  const declared = declarationsIn(program as unknown as Node);
  for (const name of modules.keys()) if ((declared.get(name) ?? 0) > 1) modules.delete(name);
  walk(program as unknown as Node, [], (node, above) => {
    if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return;
    const { object, property } = node;
    const whole =
      object.type === "MemberExpression" && object.property.type === "Identifier" && object.property.name === "default"
        ? object.object
        : object;
    const specifier = whole.type === "Identifier" ? modules.get(whole.name) : undefined;
    if (specifier === undefined || property.name === "default") return;
    const isTried = above.some(isTryOf(node));
    found.push({ specifier, kind: "member", name: property.name, at: property.start, isTried });
  });
  const lines = found.length > 0 ? text.split("\n") : [];
  return found.map(({ at, ...use }) => ({ ...use, ...placeOf(lines, at) }));
}

/** The place of a character, which is given by its number in the text. */
export function placeOf(lines: readonly string[], at: number): Pick<Use, "line" | "column" | "lineText"> {
  let line = 0;
  let left = at;
  // A line's end is a character, too.
  for (; left > (lines[line]?.length ?? 0); line++) left -= (lines[line]?.length ?? 0) + 1;
  const lineText = lines[line] ?? "";
  return { line: line + 1, column: Buffer.byteLength(lineText.slice(0, left)), lineText };
}

/** Reports whether a node is a `try` that has another in its block. */
const isTryOf = (inner: Node) => (node: Node) =>
  node.type === "TryStatement" && node.block.start <= inner.start && inner.end <= node.block.end;

/** The name of the member that an expression takes; undefined when it is computed. */
export function memberName({ computed, property }: Extract<Node, { type: "MemberExpression" }>): string | undefined {
  if (!computed) return property.type === "Identifier" ? property.name : undefined;
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}

/** The module that a call of `require` names. */
function requiredBy(node: Node): string | undefined {
  if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || node.callee.name !== "require")
    return undefined;
  const [first] = node.arguments;
  return first?.type === "Literal" && typeof first.value === "string" ? first.value : undefined;
}

/** The module that an expression evaluates to: the result of `require`, plain or wrapped by a compiler. */
function wholeModule(node: Node): string | undefined {
  const required = requiredBy(node);
  if (required !== undefined || node.type !== "CallExpression" || node.callee.type !== "Identifier") return required;
  const [first] = node.arguments;
  return first !== undefined && /^_*(import|interop)/.test(node.callee.name) ? requiredBy(first as Node) : undefined;
}

/** Returns the names that a module declares anywhere: such a name may not mean the global one where it is read. */
export function declaredNames(root: Node): ReadonlySet<string> {
  const names = new Set(declarationsIn(root).keys());
  walk(root, [], (node) => {
    if (/^(Class|Function)(Declaration|Expression)$|^TS(Enum|Module)Declaration$/.test(node.type) && "id" in node) {
      const id = node.id as Node | null;
      if (id?.type === "Identifier") names.add(id.name);
    }
  });
  return names;
}

/** The number of declarations of each name: one that is declared twice may mean something else where it is read. */
function declarationsIn(root: Node): Map<string, number> {
  const counts = new Map<string, number>();
  const declare = (pattern: Node) =>
    walk(pattern, [], (node) => {
      if (node.type === "Identifier") counts.set(node.name, (counts.get(node.name) ?? 0) + 1);
    });
  walk(root, [], (node) => {
    if (node.type === "VariableDeclarator") declare(node.id);
    if (node.type.startsWith("Import") && "local" in node) declare(node.local as Node);
    if (node.type === "CatchClause" && node.param) declare(node.param);
    if (/^(Function|ArrowFunction)/.test(node.type) && "params" in node) {
      const { params } = node as unknown as { params: readonly Node[] | Node };
      for (const each of [params].flat() as Node[]) declare(each);
    }
  });
  return counts;
}

/** Visits every node with those above it, outermost first. */
export function walk(node: Node, above: readonly Node[], visit: (node: Node, above: readonly Node[]) => void): void {
  visit(node, above);
  const inside = [...above, node];
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && typeof each === "object" && typeof each.type === "string") walk(each as Node, inside, visit);
    }
  }
}
