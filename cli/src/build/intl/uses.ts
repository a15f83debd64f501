/** Finds uses of `Intl` that fail in a component, or that format for another locale than they name. */
import type { Node } from "oxc-parser";
import { memberName } from "../used-names.ts";
import { type IntlName, intlClasses } from "./classes.ts";
import { isIntlName, type Locales } from "./locales.ts";

/** A use of `Intl` that fails, or that would format for another locale than it names. */
export interface IntlUse {
  readonly node: Node;
  readonly text: string;
  readonly remedy: string;
}

/** The next step where something is sorted for a locale. */
export const ownOrder = "sort by keys of your own, or let the database sort (`ORDER BY … COLLATE …`)";

/** Classes that cannot be added, and the next step. */
const refused: Readonly<Record<string, string>> = {
  Collator: ownOrder,
  DurationFormat: 'format the parts with Intl.NumberFormat and `style: "unit"`, and join them',
  Segmenter: "use a package that brings its own tables, such as `unicode-segmenter`",
  supportedValuesOf: "keep the list in code of your own",
};

/** Returns the problems of a use of the name `Intl`; `above` are the nodes around it, outermost first. */
export function intlUses(node: Node, above: readonly Node[], locales: Locales): readonly IntlUse[] {
  const parent = above.at(-1);
  if (parent?.type === "MemberExpression" && parent.object === node) {
    const name = memberName(parent);
    if (name === undefined) return [asWhole(node)];
    const call = above.at(-2);
    const isMade = (call?.type === "NewExpression" || call?.type === "CallExpression") && call.callee === parent;
    return usesOfName(parent.property, name, isMade ? (call.arguments[0] as Node | undefined) : undefined, locales);
  }
  if (parent?.type === "VariableDeclarator" && parent.init === node && parent.id.type === "ObjectPattern") {
    return parent.id.properties.flatMap((property) => {
      if (property.type !== "Property" || property.computed || property.key.type !== "Identifier")
        return [asWhole(node)];
      return usesOfName(property.key, property.key.name, undefined, locales);
    });
  }
  return [asWhole(node)];
}

function usesOfName(node: Node, name: string, locale: Node | undefined, locales: Locales): readonly IntlUse[] {
  if (isIntlName(name)) return usesOf(node, `Intl.${name}`, [name], locale, locales);
  const remedy = refused[name] ?? "write the text with code of your own or with a package that brings its own tables";
  return [{ node, text: `Intl.${name} cannot be added to the engine`, remedy }];
}

/** Returns the problems of a use of classes, directly or by a method, with its argument that names locales. */
export function usesOf(
  node: Node,
  shown: string,
  classes: readonly IntlName[],
  locale: Node | undefined,
  locales: Locales,
): readonly IntlUse[] {
  const missing = locales.missing(classes);
  if (missing !== undefined) {
    return [{ node, text: `${shown} needs packages of formatjs that are not installed`, remedy: missing }];
  }
  const tags = constantTags(locale);
  const isCovered = (tag: string) => classes.every((name) => locales.covers(name, tag));
  // An unknown tag in a list is skipped for the next one, and one that is no tag throws.
  if (tags === undefined || tags.some((tag) => !isTag(tag) || isCovered(tag))) return [];
  const text = `${shown} would format for ${locales.names[0]}, because tenon.toml does not name ${tags[0]}`;
  const remedy = `add ${JSON.stringify(tags[0])} to \`locales\``;
  return classes.some((name) => intlClasses[name].hasData) ? [{ node: locale as Node, text, remedy }] : [];
}

/** Values of `timeZoneName` that formatjs writes in another way than engines do. */
const otherZoneNames = new Set(["longOffset", "shortGeneric", "longGeneric"]);

/** Returns the problem of options that would give another text than in Node. */
export function optionUses(node: Node, locales: Locales): readonly IntlUse[] {
  if (node.type !== "ObjectExpression") return [];
  const given = new Map<string, Node>();
  for (const each of node.properties) {
    if (each.type !== "Property" || each.computed) continue;
    if (each.key.type === "Identifier") given.set(each.key.name, each.value);
    if (each.key.type === "Literal") given.set(String(each.key.value), each.value);
  }
  const textOf = (name: string) => {
    const value = given.get(name);
    return value?.type === "Literal" && typeof value.value === "string" ? value.value : undefined;
  };
  const [month, zoneName] = [textOf("month"), textOf("timeZoneName")];
  const uses: IntlUse[] = [];
  if (zoneName !== undefined && otherZoneNames.has(zoneName)) {
    const text = `timeZoneName: "${zoneName}" gives another text than in Node`;
    uses.push({ node: given.get("timeZoneName") as Node, text, remedy: 'use "short", "long" or "shortOffset"' });
  }
  const isMonthOfYear = given.has("year") && !given.has("day") && !given.has("weekday");
  if (isMonthOfYear && (month === "long" || month === "short")) {
    const tag = locales.names.find((each) => declinesMonths(each, month));
    const text = `the month beside a year would be in the genitive in the locale ${tag}`;
    const remedy = 'format the month by itself (`{ month: "long" }`), and put the year beside it';
    if (tag !== undefined) uses.push({ node: given.get("month") as Node, text, remedy });
  }
  return uses;
}

/** Reports whether the name of a month beside a year is another than in a date with its day. */
function declinesMonths(tag: string, month: "long" | "short"): boolean {
  const nameIn = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(tag, { month, year: "numeric", ...options })
      .formatToParts(0)
      .find(({ type }) => type === "month")?.value;
  return nameIn({}) !== nameIn({ day: "numeric" });
}

/** The locales that an argument names, if they are constant. */
function constantTags(node: Node | undefined): readonly string[] | undefined {
  if (node === undefined) return undefined;
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : undefined;
  if (node.type !== "ArrayExpression" || node.elements.length === 0) return undefined;
  const texts = node.elements.map((each) => (each?.type === "Literal" ? each.value : undefined));
  return texts.every((each) => typeof each === "string") ? texts : undefined;
}

function isTag(text: string): boolean {
  try {
    return new Intl.Locale(text) !== undefined;
  } catch {
    return false;
  }
}

const asWhole = (node: Node): IntlUse => ({
  node,
  text: "the build adds single classes of Intl, and cannot tell which ones this use needs",
  remedy: "name the class where it is used: `Intl.NumberFormat`",
});

export const isUndefined = (node: Node): boolean =>
  (node.type === "Identifier" && node.name === "undefined") ||
  (node.type === "UnaryExpression" && node.operator === "void");
