/** Finds uses of features that the engine does not have, for errors and warnings with a place. */
import { type Node, parseSync } from "oxc-parser";
import { localeMethods } from "./intl/classes.ts";
import type { Locales } from "./intl/locales.ts";
import { type IntlUse, intlUses, isUndefined, optionUses, ownOrder, usesOf } from "./intl/uses.ts";
import { declaredNames, placeOf, walk } from "./used-names.ts";

/** The use of something that the engine does not have. */
export interface Absent {
  /** A sentence with the name. */
  readonly text: string;
  /** The next step. */
  readonly remedy: string;
  /** True when the use works, but not always as in Node. */
  readonly isWarning?: boolean;
  /** Counts from 1. */
  readonly line: number;
  /** In bytes, from 0, as esbuild counts. */
  readonly column: number;
  readonly length: number;
  readonly lineText: string;
}

const ownCode = "write the text with code of your own or with a package that brings its own tables";
const nameLocales = 'name the locales in tenon.toml: `locales = ["en"]` under `[project]`';

/** Globals that the engine lacks, and the next step. `ts-sdk/test/engine` compares the others with the engine. */
const globals: ReadonlyMap<string, string> = new Map([
  ["Intl", nameLocales],
  ["Temporal", 'import it: `import { Temporal } from "temporal-polyfill"`'],
  ["WebAssembly", "a component cannot load code while it runs: import the module (docs/wasm.md)"],
  ["Worker", "a handler has one thread; call another module over HTTP"],
  ["SharedWorker", "a handler has one thread; call another module over HTTP"],
  ["WebSocket", "use server-sent events (`sse`) for clients, and HTTP for sidecars"],
  ["EventSource", "read the body of a `fetch` response as a stream"],
  ["XMLHttpRequest", "use `fetch` or `httpClient`"],
  ["BroadcastChannel", "instances share nothing; use the sidecar `cache` or a queue"],
  ["caches", "use the sidecar `cache`"],
  ["localStorage", "instances keep nothing; use the sidecar `cache` or `db`"],
  ["sessionStorage", "instances keep nothing; use the sidecar `cache` or `db`"],
  ["indexedDB", "instances keep nothing; use the sidecar `db`"],
]);

/** Methods whose argument names a locale, and the number of arguments before it. The engine ignores it. */
const byLocale: ReadonlyMap<string, number> = new Map([
  ["localeCompare", 1],
  ["toLocaleDateString", 0],
  ["toLocaleLowerCase", 0],
  ["toLocaleString", 0],
  ["toLocaleTimeString", 0],
  ["toLocaleUpperCase", 0],
]);

const mayName = new RegExp(
  String.raw`\b(?:${[...globals.keys()].join("|")})\b|\btimeZoneName\b|\bmonth\b|\.(?:${[...byLocale.keys()].join("|")})\b`,
);

/**
 * Returns a module's uses of features that the engine lacks: they would fail in a request, or silently give another
 * result than in Node. A use that the module itself guards (`typeof Intl`, `try`) is left alone.
 *
 * @param locales those that the project names, for which `Intl` can be added
 */
export function absentUses(file: string, text: string, locales?: Locales): readonly Absent[] {
  if (!mayName.test(text)) return [];
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) return [];
  const root = program as unknown as Node;
  const declared = declaredNames(root);
  const found: { at: number; length: number; text: string; remedy: string; isWarning?: boolean }[] = [];
  const note = ({ start, end }: Node, text: string, remedy: string) =>
    found.push({ at: start, length: end - start, text, remedy });
  const noteAll = (uses: readonly IntlUse[]) => {
    for (const { node, text, remedy } of uses) note(node, text, remedy);
  };

  walk(root, [], (node, above) => {
    const parent = above.at(-1);
    if (node.type === "Identifier") {
      const remedy = globals.get(node.name);
      if (remedy === undefined || declared.has(node.name)) return;
      if (isName(node, parent) || isOfTypes(above) || isGuarded(node.name, above)) return;
      if (node.name === "Intl" && locales !== undefined) noteAll(intlUses(node, above, locales));
      else note(node, `the engine has no ${node.name}`, remedy);
    }
    if (locales !== undefined) noteAll(optionUses(node, locales));
    if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") return;
    const { property } = node;
    const before = byLocale.get(property.name);
    if (before === undefined || parent?.type !== "CallExpression" || parent.callee !== node) return;
    const locale = parent.arguments[before] as Node | undefined;
    const classes = localeMethods.get(property.name);
    if (classes !== undefined && locales !== undefined) {
      noteAll(usesOf(property, property.name, classes, locale, locales));
    } else if (property.name === "localeCompare" && (locale === undefined || isUndefined(locale))) {
      const text = 'localeCompare() compares the numbers of characters here, so that "Z" comes before "a"';
      found.push({ at: property.start, length: 13, text, remedy: ownOrder, isWarning: true });
    } else if (locale !== undefined && !isUndefined(locale) && !isCasedAsAny(property.name, locale)) {
      const remedy = classes !== undefined ? nameLocales : property.name === "localeCompare" ? ownOrder : ownCode;
      note(property, `the engine knows no locales, so ${property.name}() ignores this one`, remedy);
    }
  });
  const lines = found.length > 0 ? text.split("\n") : [];
  return found.map(({ at, length, ...use }) => ({ ...use, length, ...placeOf(lines, at) }));
}

/** The name at the end of an expression: `subtle` of `crypto.subtle` and of `subtle`. */
function nameOf(node: Node): string | undefined {
  if (node.type === "Identifier") return node.name;
  return node.type === "MemberExpression" && node.property.type === "Identifier" ? node.property.name : undefined;
}

/** Reports whether an identifier is the name of a property, of a label or of an import, and refers to nothing. */
function isName(node: Node, parent: Node | undefined): boolean {
  if (parent === undefined) return false;
  if (parent.type === "MemberExpression") return parent.property === node && !parent.computed;
  if (parent.type === "Property") return parent.key === node && !parent.computed;
  if (/^(MethodDefinition|PropertyDefinition|AccessorProperty)$/.test(parent.type) && "key" in parent)
    return parent.key === node && !("computed" in parent && parent.computed);
  return /^(Import|Export)\w*Specifier$|^(LabeledStatement|BreakStatement|ContinueStatement)$/.test(parent.type);
}

/** Reports whether a node belongs to a type of TypeScript, which is gone when the code runs. */
function isOfTypes(above: readonly Node[]): boolean {
  return above.some(
    ({ type }) => type.startsWith("TS") && !/^TS(As|Satisfies|NonNull|Instantiation|TypeAssertion)/.test(type),
  );
}

/** Reports whether the code checks first that the name exists, or is in a `try`. */
function isGuarded(name: string, above: readonly Node[]): boolean {
  return above.some((node, index) => {
    const inner = above[index + 1];
    if (node.type === "UnaryExpression") return node.operator === "typeof";
    if (node.type === "TryStatement") return node.block === inner;
    const test =
      node.type === "IfStatement" || node.type === "ConditionalExpression"
        ? node.test
        : node.type === "LogicalExpression"
          ? node.left
          : undefined;
    return test !== undefined && test !== inner && looksFor(name, test as Node);
  });
}

/** Reports whether a condition has `typeof name`, `"name" in …`, or `name` as a property of something. */
function looksFor(name: string, test: Node): boolean {
  let looks = false;
  walk(test, [], (node) => {
    if (node.type === "UnaryExpression" && node.operator === "typeof") looks ||= nameOf(node.argument) === name;
    if (node.type === "BinaryExpression" && node.operator === "in")
      looks ||= node.left.type === "Literal" && node.left.value === name;
    if (node.type === "MemberExpression") looks ||= nameOf(node) === name;
  });
  return looks;
}

/** Reports whether a locale has no letters of its own in `toLocaleUpperCase` and `toLocaleLowerCase`. */
function isCasedAsAny(method: string, locale: Node): boolean {
  if (!/Case$/.test(method) || locale.type !== "Literal" || typeof locale.value !== "string") return false;
  return /^[a-z]{2,3}\b/i.test(locale.value) && !/^(?:az|el|hy|lt|tr)\b/i.test(locale.value);
}
