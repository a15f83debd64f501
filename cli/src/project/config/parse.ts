/** The parser of `tenon.toml`, made from the table of keys. */
import { nearest } from "../../nearest.ts";
import { camelCase, type Key, type OpenSection, type Section, type TableSection } from "./key.ts";
import { type Config, sections } from "./keys.ts";
import { readOverrides } from "./overrides.ts";
import { Report, type Shown } from "./report.ts";
import { readToml, type TomlEntries, type TomlEntry, TomlMistake } from "./toml.ts";

/** The process's environment, or one like it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Parses `tenon.toml`. Variables such as `TENON_SERVER_PORT` in `environment` win over the file.
 *
 * @param file the path to name in errors
 * @throws TenonError `CONFIG`, naming of every mistake the file, line and column, and of an unknown key the nearest
 */
export function parseConfig(content: string, file: string, environment: Environment = {}): Config {
  // A byte order mark is not part of the text.
  const report = new Report(file, content.replace(/^\ufeff/, ""));
  let entries: TomlEntries;
  try {
    entries = readToml(report.text);
  } catch (error) {
    if (!(error instanceof TomlMistake)) throw error;
    report.add(error.message, error.at, mayHoldSecret(report.text, error.at.line) ? "place" : "line");
    throw report.error();
  }
  const config = readSections(entries, report, true);
  readOverrides(config, environment, report);
  report.throwIfAny();
  return config as unknown as Config;
}

/** The configuration outside a project: the defaults, and the variables of `environment`. It has no name. */
export function defaultConfig(environment: Environment = {}): Config {
  const report = new Report("", "");
  const config = readSections(new Map(), report, false);
  readOverrides(config, environment, report);
  report.throwIfAny();
  return { ...config, project: { name: "", version: "0.0.0" } } as unknown as Config;
}

/** The beginning of a section whose values are nobody's business: as a table, in quotes, as a dotted key or inline. */
const PRIVATE = /^[^=#]*\b(?:secrets|env)\b|=\s*\{.*\b(?:secrets|env)\b/;
/** A URL with a user, and perhaps a password. */
const CREDENTIALS = /:\/\/[^\s/]*@/;
/** The beginning of another section. */
const HEADER = /^\s*\[\[?[\w. -]+\]\]?\s*(?:#.*)?$/;

/**
 * Reports whether an invalid line of TOML may contain a value of `[secrets]` or `[env]`. It may when it is in one of
 * them, or after one with a multi-line text, which may end elsewhere than its author intended.
 */
function mayHoldSecret(text: string, line: number): boolean {
  let isPrivate = false;
  let since: string | undefined;
  for (const each of text.split(/\r?\n/).slice(0, line)) {
    if (PRIVATE.test(each)) isPrivate = true;
    else if (HEADER.test(each)) isPrivate = false;
    if (isPrivate || since !== undefined) since = `${since ?? ""}${each}\n`;
  }
  return isPrivate || /"""|'''/.test(since ?? "") || CREDENTIALS.test(text.split(/\r?\n/)[line - 1] ?? "");
}

/** Values by section and property, while they are being gathered. */
export type Draft = Record<string, Record<string, unknown>>;

function readSections(entries: TomlEntries, report: Report, needsRequired: boolean): Draft {
  const draft: Draft = {};
  for (const [name, section] of Object.entries<Section | OpenSection | TableSection>(sections)) {
    const entry = entries.get(name);
    const isTable = entry === undefined || entry.entries !== undefined;
    if (!isTable) report.add(`\`${name}\` must be a table: [${name}]`, entry.key, "key");
    const table = entry?.entries ?? new Map<string, TomlEntry>();
    if ("keys" in section) draft[name] = readKnown(name, section, table, report);
    else if ("each" in section) draft[name] = readTables(name, section, table, report);
    else draft[name] = readOpen(name, section, table, report);
    if ("keys" in section && needsRequired && isTable) refuseMissing(name, section, table, entry, report);
  }
  for (const [name, entry] of entries)
    if (!Object.hasOwn(sections, name)) report.add(unknownAtTop(name, entry), entry.key, "key");
  return draft;
}

function readKnown(
  name: string,
  { keys }: Section,
  table: TomlEntries,
  report: Report,
  within: TableSection["within"] = {},
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, definition] of Object.entries(keys)) {
    const entry = table.get(key);
    const value = entry === undefined ? definition.default : readValue(`${name}.${key}`, definition, entry, report);
    if (value !== undefined) values[camelCase(key)] = value;
  }
  for (const [key, entry] of table)
    if (!Object.hasOwn(keys, key)) report.add(unknownKey(name, keys, key, within), entry.key, "key");
  return values;
}

function readTables(name: string, section: TableSection, table: TomlEntries, report: Report): Record<string, unknown> {
  const { within = {} } = section;
  const values: [string, unknown][] = [];
  for (const [key, entry] of table) {
    if (!section.names.pattern.test(key)) {
      report.add(`\`${key}\` is not a name for [${name}]: ${section.names.description}`, entry.key, "line");
    } else if (entry.entries === undefined) {
      report.add(`\`${name}.${key}\` must be a table: [${name}.${key}]`, entry.key, "key");
    } else {
      const known = { docs: section.docs, keys: section.each };
      const path = `${name}.${key}`;
      const sections = readWithin(path, within, entry.entries, report);
      const rest = new Map([...entry.entries].filter(([each]) => !Object.hasOwn(within, each)));
      values.push([key, { ...readKnown(path, known, rest, report, within), ...sections }]);
      refuseMissing(path, known, entry.entries, entry, report);
    }
  }
  return Object.fromEntries(values);
}

/** Reads the sections in a table. One that is left out has no value. */
function readWithin(
  path: string,
  within: Readonly<Record<string, Section | OpenSection>>,
  table: TomlEntries,
  report: Report,
): Record<string, unknown> {
  const values: [string, unknown][] = [];
  for (const [name, section] of Object.entries(within)) {
    const entry = table.get(name);
    if (entry === undefined) continue;
    if (entry.entries === undefined) {
      report.add(`\`${path}.${name}\` must be a table: [${path}.${name}]`, entry.key, "key");
    } else {
      const read = "keys" in section ? readKnown : readOpen;
      values.push([name, read(`${path}.${name}`, section as Section & OpenSection, entry.entries, report)]);
    }
  }
  return Object.fromEntries(values);
}

function readOpen(name: string, section: OpenSection, table: TomlEntries, report: Report): Record<string, unknown> {
  const values: [string, unknown][] = [];
  for (const [key, entry] of table) {
    if (!section.names.pattern.test(key)) {
      report.add(
        `\`${key}\` is not a name for [${name}]: ${section.names.description}`,
        entry.key,
        shownOf(section.values, plainValue(entry)),
      );
      continue;
    }
    const problem = section.names.together?.([...values.map(([other]) => other), key]);
    if (problem === undefined) values.push([key, readValue(`${name}.${key}`, section.values, entry, report)]);
    else report.add(problem, entry.key, "key");
  }
  return Object.fromEntries(values);
}

function readValue(path: string, { kind, ...key }: Key<unknown>, entry: TomlEntry, report: Report): unknown {
  const given = plainValue(entry);
  const value = kind.read(given);
  const shown = shownOf(key, given);
  if (value === undefined) report.add(`\`${path}\` must be ${kind.description}`, entry.at, shown);
  else {
    const problem = key.problem?.(value);
    if (problem === undefined) return value;
    report.add(`\`${path}\` ${problem}`, entry.at, shown);
  }
  return undefined;
}

function shownOf({ hidden = false }: Pick<Key<unknown>, "hidden">, value: unknown): Shown {
  return (typeof hidden === "function" ? hidden(value) : hidden) ? "place" : "line";
}

/** Returns a value, or a table as an object. */
function plainValue({ value, entries }: TomlEntry): unknown {
  return entries === undefined
    ? value
    : Object.fromEntries([...entries].map(([key, entry]) => [key, plainValue(entry)]));
}

function refuseMissing(
  name: string,
  { keys }: Section,
  table: TomlEntries,
  entry: TomlEntry | undefined,
  report: Report,
): void {
  for (const [key, { presence, kind }] of Object.entries(keys)) {
    if (presence !== "required" || table.has(key)) continue;
    report.add(`\`${name}.${key}\` is missing: [${name}] needs a \`${key}\`, ${kind.description}`, entry?.key);
  }
}

function unknownAtTop(name: string, { entries }: TomlEntry): string {
  const isKey = entries === undefined;
  const what = isKey ? `unknown key \`${name}\` outside the sections` : `unknown section \`${name}\``;
  const home = homeOf(name);
  if (isKey && home !== undefined) return `${what}; it is a key of [${home}]`;
  const near = nearest(name, Object.keys(sections));
  const section = near && `did you mean [${near}]?`;
  const key = home === undefined ? nearestElsewhere(name) : `\`${name}\` is a key of [${home}]`;
  const known = `known sections are ${Object.keys(sections).join(", ")}`;
  return `${what}; ${(isKey ? (key ?? section) : (section ?? key)) ?? known}`;
}

function unknownKey(
  section: string,
  keys: Section["keys"],
  key: string,
  within: NonNullable<TableSection["within"]>,
): string {
  const names = [...Object.keys(keys), ...Object.keys(within)];
  const near = nearest(key, names);
  const inner = homeOf(key, within);
  const home = inner === undefined ? homeOf(key) : `${section}.${inner}`;
  if (home !== undefined) return `unknown key \`${key}\` in [${section}]; it is a key of [${home}]`;
  if (Object.hasOwn(sections, key)) return `\`${key}\` is a section of its own, [${key}], and not in [${section}]`;
  if (near !== undefined) return `unknown key \`${key}\` in [${section}]; did you mean \`${near}\`?`;
  return `unknown key \`${key}\` in [${section}]; ${nearestElsewhere(key) ?? `known are ${names.join(", ")}`}`;
}

/** Suggests the nearest key of all sections. */
function nearestElsewhere(key: string): string | undefined {
  const keys = Object.values<Section | OpenSection | TableSection>(sections).flatMap((section) =>
    "keys" in section ? Object.keys(section.keys) : [],
  );
  const near = nearest(key, keys);
  return near === undefined ? undefined : `did you mean \`${near}\` in [${homeOf(near)}]?`;
}

/** The section that a key belongs to. */
function homeOf(
  key: string,
  among: Readonly<Record<string, Section | OpenSection | TableSection>> = sections,
): string | undefined {
  const found = Object.entries(among).find(([, section]) => "keys" in section && Object.hasOwn(section.keys, key));
  return found?.[0];
}
