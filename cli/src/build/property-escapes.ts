/** Writes out `\p{…}` in regular expressions, because the engine has no Unicode tables. */
import { relative } from "node:path";
import { type Node, parseSync } from "oxc-parser";
import rewritePattern from "regexpu-core";
import { apply, type Edit } from "./edits.ts";
import { walk } from "./used-names.ts";

/** A module's text without character classes by Unicode property, and the remaining ones. */
export interface Rewritten {
  readonly text: string;
  readonly warnings: readonly string[];
}

const mayName = /\\p\{/i;

/**
 * Writes out the classes `\p{…}` of regular expressions, of which the engine has no tables: in literals, and in `new RegExp(…)` of
 * texts that are constant. Each becomes the call of a function at the end of the module, so that everything keeps its place.
 */
export function withoutPropertyEscapes(file: string, text: string): Rewritten {
  if (!mayName.test(text)) return { text, warnings: [] };
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) return { text, warnings: [] };
  const root = program as unknown as Node;
  const constants = constantsOf(root);
  const edits: Edit[] = [];
  const made = new Map<string, string>();
  const covered: Node[] = [];
  const loose: Node[] = [];
  const prefix = unusedPrefix(text);

  walk(root, [], (node) => {
    const found = expressionOf(node, constants);
    if (found !== undefined) {
      if (!mayName.test(found.pattern)) return;
      const literal = rewritten(found);
      if (literal === undefined) return;
      const name = made.get(literal) ?? `${prefix}${made.size}`;
      made.set(literal, name);
      edits.push({ start: node.start, end: node.end, put: ` ${name}()` });
      covered.push(node);
    } else if (isTextWithProperty(node)) loose.push(node);
  });
  const functions = [...made].map(([literal, name]) => `\nfunction ${name}(){return ${literal}}`);
  const used = new Set(covered.flatMap((node) => [...textsIn(node, constants)]));
  const left = loose.filter(
    (node) => !used.has(node) && !covered.some(({ start, end }) => start <= node.start && node.end <= end),
  );
  const warnings = left.map((node) => {
    const line = text.slice(0, node.start).split("\n").length;
    return `${relative(process.cwd(), file)}:${line}: a regular expression with \\p{…} whose text is not constant fails when it is made`;
  });
  return { text: apply(text, edits) + functions.join(""), warnings };
}

/** A name that the text has not. */
function unusedPrefix(text: string): string {
  let prefix = "$p";
  while (text.includes(prefix)) prefix += "_";
  return prefix;
}

interface Expression {
  readonly pattern: string;
  readonly flags: string;
}

type Constants = ReadonlyMap<string, Node>;

/** The regular expression that a node is or makes, if its text is known. */
function expressionOf(node: Node, constants: Constants): Expression | undefined {
  if (node.type === "Literal" && "regex" in node && node.regex) return node.regex as Expression;
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return undefined;
  if (node.callee.type !== "Identifier" || node.callee.name !== "RegExp") return undefined;
  const [pattern, flags] = node.arguments as Node[];
  if (pattern === undefined || (!mentionsProperty(pattern, constants) && !flags)) return undefined;
  const inner = expressionOf(pattern, constants) ?? constantExpression(pattern, constants);
  const text = inner?.pattern ?? constantText(pattern, constants);
  const given = flags === undefined ? (inner?.flags ?? "") : constantText(flags, constants);
  return text === undefined || given === undefined ? undefined : { pattern: text, flags: given };
}

const mentionsProperty = (node: Node, constants: Constants) => mayName.test(constantText(node, constants) ?? "\\p{");

function constantExpression(node: Node, constants: Constants): Expression | undefined {
  const value = node.type === "Identifier" ? constants.get(node.name) : undefined;
  return value && expressionOf(value, constants);
}

/** The same expression as a literal without classes by property; nothing when it has none, or is not valid. */
function rewritten({ pattern, flags }: Expression): string | undefined {
  if (!/[uv]/.test(flags)) return undefined;
  try {
    let changed = flags;
    const options = {
      unicodePropertyEscapes: "transform",
      unicodeSetsFlag: "transform",
      onNewFlags: (newFlags: string) => {
        changed = newFlags;
      },
    } as const;
    const text = rewritePattern(pattern, flags, options);
    // A text may contain characters that a literal must not: a line break, and a slash outside a class.
    const { source } = new RegExp(text, changed);
    return `/${source}/${changed}`;
  } catch {
    return undefined;
  }
}

/** Constants of a module by their names, as far as no other variable has the same one. */
function constantsOf(root: Node): Constants {
  const constants = new Map<string, Node>();
  const twice = new Set<string>();
  walk(root, [], (node, above) => {
    if (node.type !== "VariableDeclarator" || node.id.type !== "Identifier") return;
    const { name } = node.id;
    const declaration = above.at(-1);
    if (constants.has(name) || twice.has(name)) twice.add(name);
    else if (node.init && declaration?.type === "VariableDeclaration") constants.set(name, node.init as Node);
    if (declaration?.type === "VariableDeclaration" && declaration.kind !== "const") twice.add(name);
  });
  for (const name of twice) constants.delete(name);
  return constants;
}

/** The text that an expression is, if it is constant. */
function constantText(node: Node, constants: Constants): string | undefined {
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? node.value : undefined;
    case "TemplateLiteral":
      return templateText(node, constants, "cooked");
    case "TaggedTemplateExpression": {
      const { tag, quasi } = node;
      const isRaw =
        tag.type === "MemberExpression" &&
        tag.object.type === "Identifier" &&
        tag.object.name === "String" &&
        tag.property.type === "Identifier" &&
        tag.property.name === "raw";
      return isRaw ? templateText(quasi, constants, "raw") : undefined;
    }
    case "BinaryExpression": {
      if (node.operator !== "+") return undefined;
      const left = constantText(node.left as Node, constants);
      const right = constantText(node.right as Node, constants);
      return left === undefined || right === undefined ? undefined : left + right;
    }
    case "Identifier": {
      const value = constants.get(node.name);
      return value && constantText(value, constants);
    }
    case "MemberExpression": {
      if (node.computed || node.property.type !== "Identifier" || node.property.name !== "source") return undefined;
      return (expressionOf(node.object, constants) ?? constantExpression(node.object, constants))?.pattern;
    }
    case "ParenthesizedExpression":
      return constantText(node.expression, constants);
    default:
      return undefined;
  }
}

function templateText(
  { quasis, expressions }: Extract<Node, { type: "TemplateLiteral" }>,
  constants: Constants,
  form: "cooked" | "raw",
): string | undefined {
  let text = "";
  for (const [index, quasi] of quasis.entries()) {
    text += quasi.value[form];
    const expression = expressions[index];
    if (expression === undefined) continue;
    const value = constantText(expression as Node, constants);
    if (value === undefined) return undefined;
    text += value;
  }
  return text;
}

const isTextWithProperty = (node: Node): boolean =>
  (node.type === "Literal" && typeof node.value === "string" && mayName.test(node.value)) ||
  (node.type === "TemplateElement" && mayName.test(node.value.cooked ?? node.value.raw));

/** The texts behind an expression, in it and in the constants that it names. */
function textsIn(node: Node, constants: Constants, seen = new Set<Node>()): Set<Node> {
  walk(node, [], (each) => {
    if (seen.has(each)) return;
    seen.add(each);
    const value = each.type === "Identifier" ? constants.get(each.name) : undefined;
    if (value !== undefined && !seen.has(value)) textsIn(value, constants, seen);
  });
  return seen;
}
