/** The classes of `Intl` that packages of formatjs add to the engine, which has none. */

/** The name of the generated module among the imports of the entry. */
export const intlModule = "tenon-intl:classes";

/** A class, or the function `getCanonicalLocales`. */
interface IntlClass {
  /** The package that defines it. */
  readonly package: string;
  /** The version that the comparison with Node ran with (`scripts/intl`). */
  readonly version: string;
  /** The classes that it uses. */
  readonly needs: readonly IntlName[];
  /** True when the package has data for each locale. */
  readonly hasData: boolean;
}

/** A name of `Intl` that can be added. */
export type IntlName =
  | "getCanonicalLocales"
  | "Locale"
  | "PluralRules"
  | "NumberFormat"
  | "DateTimeFormat"
  | "ListFormat"
  | "RelativeTimeFormat"
  | "DisplayNames";

/** Each after those that it needs. */
export const intlClasses: Readonly<Record<IntlName, IntlClass>> = {
  getCanonicalLocales: classOf("getcanonicallocales", "3.2.12", [], false),
  Locale: classOf("locale", "5.3.12", ["getCanonicalLocales"], false),
  PluralRules: classOf("pluralrules", "6.3.16", ["Locale"]),
  NumberFormat: classOf("numberformat", "9.4.3", ["PluralRules"]),
  DateTimeFormat: classOf("datetimeformat", "7.8.1", ["NumberFormat"]),
  ListFormat: classOf("listformat", "8.3.15", ["Locale"]),
  RelativeTimeFormat: classOf("relativetimeformat", "13.0.1", ["NumberFormat"]),
  DisplayNames: classOf("displaynames", "7.3.15", ["Locale"]),
};

function classOf(name: string, version: string, needs: readonly IntlName[], hasData = true): IntlClass {
  return { package: `@formatjs/intl-${name}`, version, needs, hasData };
}

export const intlNames = Object.keys(intlClasses) as readonly IntlName[];

/** Adds the classes that the given ones need, in the order of {@link intlClasses}. */
export function withNeeded(names: Iterable<IntlName>): readonly IntlName[] {
  const all = new Set<IntlName>();
  const add = (name: IntlName) => {
    for (const each of intlClasses[name].needs) add(each);
    all.add(name);
  };
  for (const name of names) add(name);
  return intlNames.filter((name) => all.has(name));
}

/** Methods of other objects that format by locale, and the classes that they use. */
export const localeMethods: ReadonlyMap<string, readonly IntlName[]> = new Map([
  ["toLocaleString", ["NumberFormat", "DateTimeFormat"]],
  ["toLocaleDateString", ["DateTimeFormat"]],
  ["toLocaleTimeString", ["DateTimeFormat"]],
]);

/** The classes that code names, minified or not. */
export function intlNamesIn(code: string): ReadonlySet<IntlName> {
  const found = new Set<IntlName>();
  for (const [method, names] of localeMethods)
    if (code.includes(`.${method}`)) for (const name of names) found.add(name);
  if (/\bIntl\b/.test(code)) for (const name of intlNames) if (new RegExp(`\\b${name}\\b`).test(code)) found.add(name);
  return found;
}
