/** The locales that a project names, and the modules with their data. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { polyfillsFolder } from "../guest-folders.ts";
import { importedFolder } from "../packages.ts";
import { atTime } from "./at-time.ts";
import { type IntlName, intlClasses, intlNames, withNeeded } from "./classes.ts";
import { installing } from "./missing.ts";

/** The name of the module by {@link Locales.joinsModule}. */
export const joinsModule = "tenon-intl:joins";

type Lookup = typeof import("@tenon/guest/polyfills/intl-lookup");

/** The locales that a project names, and the packages of formatjs that it has installed. */
export class Locales {
  readonly names: readonly string[];
  readonly #folder: string;
  readonly #lookup: Lookup;

  private constructor(names: readonly string[], folder: string, lookup: Lookup) {
    this.names = names;
    this.#folder = folder;
    this.#lookup = lookup;
  }

  /**
   * Loads the rule by which components choose a locale, because the build chooses data by the same rule.
   *
   * @param names as `tenon.toml` has them; the first is the default
   * @param folder the project's, from which packages are looked for
   */
  static async load(names: readonly string[], folder: string): Promise<Locales> {
    const file = pathToFileURL(join(polyfillsFolder, "intl-lookup.js"));
    return new Locales(names, folder, (await import(file.href)) as Lookup);
  }

  /** The command that installs what some classes need and the project lacks; undefined when it has all. */
  missing(names: Iterable<IntlName>): string | undefined {
    const lacking = withNeeded(names).filter((name) => this.#packageFolder(name) === undefined);
    if (lacking.length === 0) return undefined;
    return installing(lacking.map((name) => `${intlClasses[name].package}@${intlClasses[name].version}`));
  }

  /** Reports whether formatting for a locale uses the data of a named one, so that the result is that locale's own. */
  covers(name: IntlName, tag: string): boolean {
    if (!intlClasses[name].hasData) return true;
    const file = this.dataFile(name, tag);
    return file !== undefined && this.names.some((named) => this.dataFile(name, named) === file);
  }

  /**
   * The name of the file with a class's data for a locale: that of the locale itself (`de-CH`), or of a shorter one when
   * there is none (`de` for `de-DE`, `zh-Hant` for `zh-TW`).
   */
  dataFile(name: IntlName, tag: string): string | undefined {
    const folder = this.#packageFolder(name);
    if (folder === undefined) return undefined;
    const { language } = new Intl.Locale(tag);
    // Plurals belong to a language, however it is written.
    const names = [...this.#lookup.candidates(tag), ...(name === "PluralRules" ? [language] : [])];
    return names.find((each) => existsSync(join(folder, "locale-data", `${each}.js`)));
  }

  #packageFolder(name: IntlName): string | undefined {
    return importedFolder(intlClasses[name].package, this.#folder);
  }

  /**
   * The module that adds classes with the data of the named locales. It runs before all modules of the handler.
   *
   * @throws Error for a locale without data
   */
  module(names: ReadonlySet<IntlName>, code: string): string {
    const lines: string[] = [];
    const add = (specifier: string) => lines.push(`import ${JSON.stringify(specifier)};`);
    for (const name of withNeeded(names)) {
      const { package: from, hasData } = intlClasses[name];
      add(`${from}/polyfill-force.js`);
      const isDate = name === "DateTimeFormat";
      if (isDate) for (const each of [joinsModule, "tenon-polyfills:intl-date-data.js"]) add(each);
      if (isDate && !/\bformatRange/.test(code)) add("tenon-polyfills:intl-without-ranges.js");
      if (hasData) for (const file of this.#dataFiles(name)) add(`${from}/locale-data/${file}.js`);
      if (!isDate) continue;
      add("tenon-polyfills:intl-dates.js");
      if (!/\btimeZone\b/.test(code)) continue;
      add("tenon-polyfills:intl-time-zones.js");
      add(`${from}/add-all-tz.js`);
    }
    add("tenon-polyfills:intl.js");
    if (names.has("DateTimeFormat")) lines.push(...zonesIn(code).map(usingZone));
    return lines.join("\n");
  }

  /** The module that sets how dates and times are joined, in patterns with the words in quotes. */
  joinsModule(): string {
    const joins = [...this.#dataFiles("DateTimeFormat")].flatMap((tag) => {
      const own = atTime[tag] ?? atTime[new Intl.Locale(tag).language] ?? [];
      const [full, long = full] = own.map((pattern) => pattern.replace(/[A-Za-z]+/g, "'$&'"));
      return full === undefined ? [] : [[tag, { full, long }]];
    });
    return `import { atTimeKey } from "tenon-entry:abi.js"; globalThis[atTimeKey] = ${JSON.stringify(Object.fromEntries(joins))};`;
  }

  #dataFiles(name: IntlName): ReadonlySet<string> {
    const files = this.names.map((tag) => {
      const file = this.dataFile(name, tag);
      if (file === undefined) throw new Error(`${intlClasses[name].package} has no data for the locale ${tag}`);
      return file;
    });
    return new Set(files);
  }
}

/** The most time zones whose data is read during the build. */
const mostZones = 50;

/** The names of time zones that code contains. */
function zonesIn(code: string): readonly string[] {
  const found = code.matchAll(/["'`]([A-Z][A-Za-z_]+(?:\/[A-Za-z_+-]+){1,2})["'`]/g);
  return [...new Set([...found].map(([, name]) => name as string))].slice(0, mostZones);
}

/** Code that uses a time zone once, so that requests find its data read. The name may mean something else. */
const usingZone = (name: string) =>
  `try { new Intl.DateTimeFormat(undefined, { timeZone: ${JSON.stringify(name)} }).format(0); } catch {}`;

export const isIntlName = (name: string): name is IntlName => (intlNames as readonly string[]).includes(name);
