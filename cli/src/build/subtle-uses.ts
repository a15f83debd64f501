/** Finds the algorithms of `crypto.subtle` that the sources of a bundle use, to add their modules. */
import { type Node, parseSync } from "oxc-parser";
import { memberName, walk } from "./used-names.ts";

/** Operations with keys. `digest` needs no module. */
const withKeys: ReadonlySet<string> = new Set([
  "decrypt",
  "deriveBits",
  "deriveKey",
  "encrypt",
  "exportKey",
  "generateKey",
  "importKey",
  "sign",
  "unwrapKey",
  "verify",
  "wrapKey",
]);

/** The modules `crypto/with-…` of `guest/src/platform`, and the names of the algorithms that each computes. */
const modules: Readonly<Record<string, RegExp>> = {
  symmetric: /\b(?:AES-|HKDF\b|PBKDF2\b)/i,
  curves: /\b(?:ECDSA|ECDH|Ed25519|X25519)\b/i,
  rsa: /\b(?:RSA-|RSASSA-)/i,
};

/** The algorithms of the SDK's `jwt`, and the modules that compute them. */
const tokens: readonly (readonly [name: RegExp, module: string | undefined])[] = [
  [/\bES256\b/, "curves"],
  [/\bRS256\b/, "rsa"],
  [/\bHS(?:256|384|512)\b/, undefined],
];

/** Words in a source that may concern `crypto.subtle`. */
export const mayUseSubtle = /subtle|AES-|HKDF|PBKDF2|ECD(?:H|SA)|25519|RSA-|RSASSA-|HMAC|[EHR]S(?:256|384|512)/i;

/**
 * Finds out which parts of `crypto.subtle` the sources of a bundle use beyond digests and HMAC. A source that hands
 * `crypto.subtle` on, so that its operations cannot be seen, counts as one that uses all of them. An algorithm is used when its name
 * is in any source.
 */
export class SubtleUses {
  readonly #operations = new Set<string>();
  readonly #named = new Set<string>();
  readonly #tokens = new Set<string | undefined>();
  /** True when the bundle has the SDK's `jwt`, whose algorithms the sources name. */
  hasJwt = false;
  #isHmacNamed = false;

  /** Adds the uses of a source. */
  addFrom(file: string, text: string): void {
    for (const [module, names] of Object.entries(modules)) if (names.test(text)) this.#named.add(module);
    for (const [name, module] of tokens) if (name.test(text)) this.#tokens.add(module);
    this.#isHmacNamed ||= /\bHMAC\b/i.test(text);
    if (!/\bsubtle\b/.test(text)) return;
    const operations = operationsIn(file, text);
    // Other objects may have a property of that name.
    if (!/crypto/i.test(text)) operations.delete("*");
    for (const operation of operations) this.#operations.add(operation);
  }

  /** The modules of `guest/src/platform` for algorithms. */
  get platformModules(): readonly string[] {
    const found = new Set<string>();
    const isUsed = [...withKeys, "*"].some((each) => this.#operations.has(each));
    const isNamed = this.#named.size > 0 || this.#isHmacNamed;
    if (isUsed) for (const module of isNamed ? this.#named : Object.keys(modules)) found.add(module);
    const accepted = this.#tokens.size > 0 ? this.#tokens : tokens.map(([, module]) => module);
    if (this.hasJwt) for (const module of accepted) if (module !== undefined) found.add(module);
    return [...found].sort().map((module) => `crypto/with-${module}`);
  }
}

/** The operations that a source uses; `*` for all. */
function operationsIn(file: string, text: string): Set<string> {
  const { program, errors } = parseSync(file, text);
  const operations = new Set<string>();
  if (errors.length > 0) return operations;
  const root = program as unknown as Node;
  /** Local names of `crypto.subtle`. */
  const aliases = new Set<string>();
  const noteUse = (used: Node, around: readonly Node[]) => {
    const { node, above } = outermost(used, around);
    const parent = above.at(-1);
    if (parent === undefined || isType(parent)) return;
    const operation = memberOf(node, parent);
    if (operation !== undefined) operations.add(operation);
    else if (isAlias(node, parent)) {
      const { id } = parent as unknown as { id: Node };
      if (id.type === "Identifier") aliases.add(id.name);
      else for (const name of namesIn(id)) operations.add(name);
    } else if (!isCondition(node, parent)) operations.add("*");
  };

  walk(root, [], (node, above) => {
    if (node.type === "MemberExpression" && memberName(node) === "subtle") noteUse(node, above);
    // const { subtle } = crypto
    if (node.type === "Property" && above.at(-1)?.type === "ObjectPattern" && keyOf(node) === "subtle") {
      const { value } = node as unknown as { value: Node };
      if (value.type === "Identifier") aliases.add(value.name);
      else if (value.type === "ObjectPattern") for (const name of namesIn(value)) operations.add(name);
      else operations.add("*");
    }
    if (node.type === "ImportSpecifier" && node.importKind !== "type" && nameOf(node.imported as Node) === "subtle")
      aliases.add(node.local.name);
  });
  walk(root, [], (node, above) => {
    const parent = above.at(-1);
    if (node.type !== "Identifier" || !aliases.has(node.name) || parent === undefined) return;
    if (!isDeclaredBy(node, parent, above.at(-2))) noteUse(node, above);
  });
  return operations;
}

/** Finds the outermost expression that has the value of another one, if only under a condition. */
function outermost(used: Node, around: readonly Node[]): { node: Node; above: readonly Node[] } {
  let node = used;
  let depth = around.length;
  for (; depth > 0; depth--) {
    const parent = around[depth - 1] as Node;
    const isChoice = parent.type === "ConditionalExpression" && parent.test !== node;
    if (!isChoice && !sameValue.test(parent.type)) break;
    node = parent;
  }
  return { node, above: around.slice(0, depth) };
}

const sameValue = /^(?:Chain|Logical|Parenthesized|TSAs|TSNonNull|TSSatisfies)Expression$/;

/** The name of the member of an object that an expression takes; `*` when it is computed. */
function memberOf(node: Node, parent: Node): string | undefined {
  if (parent.type === "MemberExpression" && parent.object === node) return memberName(parent) ?? "*";
  return undefined;
}

const nameOf = (node: Node): string | undefined => (node.type === "Identifier" ? node.name : undefined);

function keyOf(node: Node & { type: "Property" }): string | undefined {
  return node.computed ? undefined : nameOf(node.key as Node);
}

/** The names that a pattern takes; `*` for the rest of them. */
function namesIn(pattern: Node): string[] {
  if (pattern.type !== "ObjectPattern") return ["*"];
  return pattern.properties.map((each) =>
    each.type === "Property" ? (keyOf(each as unknown as Node & { type: "Property" }) ?? "*") : "*",
  );
}

/** Reports whether a declaration names an expression. */
const isAlias = (node: Node, parent: Node): boolean => parent.type === "VariableDeclarator" && parent.init === node;

/** Reports whether an expression is only tested for existence. */
const isCondition = (node: Node, parent: Node): boolean =>
  parent.type === "BinaryExpression" ||
  (parent.type === "UnaryExpression" && ["typeof", "!"].includes(parent.operator)) ||
  ((parent.type === "IfStatement" || parent.type === "ConditionalExpression") && parent.test === node);

/** Reports whether an identifier is declared there, or is the name of something else. */
function isDeclaredBy(node: Node, parent: Node, holder: Node | undefined): boolean {
  if (parent.type === "VariableDeclarator") return parent.id === node;
  if (parent.type === "MemberExpression") return parent.property === node && !parent.computed;
  if (parent.type === "Property") return parent.value !== node || holder?.type === "ObjectPattern";
  return /^(Import|Export)\w*Specifier$|^MethodDefinition$|^PropertyDefinition$/.test(parent.type);
}

const isType = (node: Node): boolean =>
  node.type.startsWith("TS") && !/^TS(As|Satisfies|NonNull|Instantiation|TypeAssertion)/.test(node.type);
