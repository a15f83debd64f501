/** Uses of `Intl` in a project that names locales. The folder of formatjs's packages has names of files only. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { absentUses } from "../absent.ts";
import { intlClasses, intlNamesIn, withNeeded } from "./classes.ts";
import { Locales } from "./locales.ts";

const files = ["de", "de-CH", "en", "en-GB", "zh", "zh-Hant", "sr", "sr-Latn"];
let folder: string;
let locales: Locales;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-intl-"));
  for (const [name, { package: from, hasData }] of Object.entries(intlClasses)) {
    if (name === "ListFormat") continue;
    const data = join(folder, "node_modules", from, "locale-data");
    await mkdir(data, { recursive: true });
    await writeFile(join(data, "../package.json"), "{}");
    const own = name === "PluralRules" ? files.filter((each) => !each.includes("-")) : files;
    if (hasData) for (const each of own) await writeFile(join(data, `${each}.js`), "");
  }
  locales = await Locales.load(["en", "de-CH", "zh-TW"], folder);
});
afterAll(() => rm(folder, { recursive: true }));

const found = (source: string) => absentUses("module.ts", source, locales).map(({ text, remedy }) => [text, remedy]);

describe("a use that is covered", () => {
  test.each([
    "new Intl.NumberFormat(locale).format(1);",
    "new Intl.DateTimeFormat('de-CH'); new Intl.PluralRules(['zh-TW']);",
    "const { NumberFormat, DateTimeFormat: Format } = Intl;",
    "price.toLocaleString(); day.toLocaleDateString('en-US', { timeZone });",
    "day.toLocaleTimeString(['fr', 'en']); day.toLocaleString('not a tag');",
    "Intl.getCanonicalLocales(tags); new Intl.Locale('fr');",
    "if (typeof Intl !== 'undefined') use(Intl);",
  ])("%s", (source) => expect(found(source)).toEqual([]));
});

describe("a use that is not covered", () => {
  const notNamed = (shown: string, tag: string) => [
    `${shown} would format for en, because tenon.toml does not name ${tag}`,
    `add "${tag}" to \`locales\``,
  ];
  test.each([
    ["new Intl.NumberFormat('de')", notNamed("Intl.NumberFormat", "de")],
    ["day.toLocaleDateString('en-GB')", notNamed("toLocaleDateString", "en-GB")],
    ["n.toLocaleString(['zh', 'sr'])", notNamed("toLocaleString", "zh")],
    [
      "new Intl.Collator('de')",
      [
        "Intl.Collator cannot be added to the engine",
        "sort by keys of your own, or let the database sort (`ORDER BY … COLLATE …`)",
      ],
    ],
    [
      "const all = Intl;",
      [
        "the build adds single classes of Intl, and cannot tell which ones this use needs",
        "name the class where it is used: `Intl.NumberFormat`",
      ],
    ],
    [
      "new Intl.ListFormat('en')",
      [
        "Intl.ListFormat needs packages of formatjs that are not installed",
        `npm install --save-dev @formatjs/intl-listformat@${intlClasses.ListFormat.version}`,
      ],
    ],
    [
      "new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' })",
      ['timeZoneName: "longOffset" gives another text than in Node', 'use "short", "long" or "shortOffset"'],
    ],
    [
      "names.sort((a, b) => a.localeCompare(b, 'en'))",
      [
        "the engine knows no locales, so localeCompare() ignores this one",
        "sort by keys of your own, or let the database sort (`ORDER BY … COLLATE …`)",
      ],
    ],
  ])("%s", (source, expected) => expect(found(source)).toEqual([expected]));
});

test("a month beside a year is refused where its name differs from that in a date", async () => {
  const polish = await Locales.load(["en", "pl"], folder);
  const texts = (options: string) =>
    absentUses("module.ts", `const options = ${options};`, polish).map(({ text }) => text);
  expect(texts("{ month: 'numeric', year: 'numeric' }")).toEqual([]);
  expect(found("format({ month: 'long', year: 'numeric' })")).toEqual([]);
  expect(texts("{ timeZone, month: 'long', year: 'numeric', day: 'numeric' }")).toEqual([]);
  expect(texts("{ timeZone, 'month': 'long', year }")).toEqual([
    "the month beside a year would be in the genitive in the locale pl",
  ]);
});

test.each([
  ["de-DE", "de"],
  ["de-CH", "de-CH"],
  ["en-US", "en"],
  ["zh-TW", "zh-Hant"],
  ["zh-CN", "zh"],
  ["sr-Latn-RS", "sr-Latn"],
  ["fr", undefined],
  ["tlh", undefined],
])("the data for %s", (tag, file) => expect(locales.dataFile("NumberFormat", tag)).toBe(file));

test("plurals are those of the language", () => {
  expect(locales.dataFile("PluralRules", "zh-TW")).toBe("zh");
});

test("the module imports what is needed, in order", () => {
  const code = 'new Date().toLocaleDateString("en", { timeZone: "Europe/Berlin" }); import("text/plain")';
  const names = intlNamesIn(code);
  expect(withNeeded(names)).toEqual(["getCanonicalLocales", "Locale", "PluralRules", "NumberFormat", "DateTimeFormat"]);
  const lines = locales.module(names, code).split("\n");
  expect(lines.slice(-11)).toEqual([
    'import "tenon-intl:joins";',
    'import "tenon-polyfills:intl-date-data.js";',
    'import "tenon-polyfills:intl-without-ranges.js";',
    'import "@formatjs/intl-datetimeformat/locale-data/en.js";',
    'import "@formatjs/intl-datetimeformat/locale-data/de-CH.js";',
    'import "@formatjs/intl-datetimeformat/locale-data/zh-Hant.js";',
    'import "tenon-polyfills:intl-dates.js";',
    'import "tenon-polyfills:intl-time-zones.js";',
    'import "@formatjs/intl-datetimeformat/add-all-tz.js";',
    'import "tenon-polyfills:intl.js";',
    'try { new Intl.DateTimeFormat(undefined, { timeZone: "Europe/Berlin" }).format(0); } catch {}',
  ]);
  expect(locales.joinsModule()).toContain(`"de-CH":{"full":"{1} 'um' {0}","long":"{1} 'um' {0}"}`);
  expect(locales.module(intlNamesIn("new Intl.NumberFormat()"), "")).not.toContain("datetimeformat");
});

test("a locale without data is an error", async () => {
  const unknown = await Locales.load(["fr"], folder);
  expect(() => unknown.module(new Set(["NumberFormat"]), "")).toThrow(
    "@formatjs/intl-pluralrules has no data for the locale fr",
  );
});
