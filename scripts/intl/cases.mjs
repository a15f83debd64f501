// The table of uses of `Intl` that are compared. It runs in a component and under Node, so it imports nothing.

export const locales = ["en", "de", "fr", "pl", "ja", "ar"];

const numbers = [0, -0, 1, 2, 5, 12, 0.5, 1.005, -1234.5, 1234567.891, 1e21, Number.NaN, Number.NEGATIVE_INFINITY];
const numberOptions = [
  undefined,
  { maximumFractionDigits: 0 },
  { minimumFractionDigits: 2 },
  { maximumSignificantDigits: 3 },
  { useGrouping: false },
  { signDisplay: "always" },
  { notation: "compact" },
  { notation: "compact", compactDisplay: "long" },
  { notation: "scientific" },
  { style: "percent" },
  { style: "percent", maximumFractionDigits: 1 },
  { style: "currency", currency: "EUR" },
  { style: "currency", currency: "JPY" },
  { style: "currency", currency: "USD", currencyDisplay: "code" },
  { style: "currency", currency: "USD", currencyDisplay: "name" },
  { style: "currency", currency: "USD", currencySign: "accounting" },
  { style: "unit", unit: "kilometer-per-hour" },
  { style: "unit", unit: "liter", unitDisplay: "long" },
  { style: "unit", unit: "byte", unitDisplay: "narrow" },
];

const dates = [
  "2026-01-02T03:04:05.678Z",
  "2026-07-14T21:30:00Z",
  "1969-12-31T23:59:59Z",
  "2000-02-29T12:00:00Z",
  "2050-08-01T00:00:00Z",
];
const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Calcutta"];
// The build refuses the others.
const zoneNames = ["short", "long", "shortOffset"];
// The build would refuse it beside a year for Polish, which the table is to show.
const long = "long";
const styles = ["full", "long", "medium", "short"];
const dateOptions = [
  undefined,
  ...styles.map((dateStyle) => ({ dateStyle })),
  ...styles.map((timeStyle) => ({ timeStyle })),
  { dateStyle: "medium", timeStyle: "short" },
  { dateStyle: "full", timeStyle: "long" },
  { year: "numeric", month: "long", day: "numeric" },
  { weekday: "short", month: "short", day: "2-digit" },
  { year: "2-digit", month: "2-digit", day: "2-digit" },
  { month: long, year: "numeric" },
  { hour: "numeric", minute: "2-digit" },
  { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false },
  { hour: "numeric", hour12: true },
  { hour: "numeric", minute: "numeric", timeZoneName: "short" },
];

/** Calls a function; an exception counts by its class. */
function outcome(use) {
  try {
    return use();
  } catch (error) {
    return `throws ${error.constructor.name}`;
  }
}

/** Local times in a zone from 1955 to 2050. */
function times(timeZone) {
  const format = new Intl.DateTimeFormat("en", { dateStyle: "short", timeStyle: "medium", timeZone });
  const years = Array.from({ length: 20 }, (_, index) => 1955 + 5 * index);
  return years
    .flatMap((year) => [0, 6].map((month) => format.format(Date.UTC(year, month, 15, 12, 34, 56))))
    .join("; ");
}

/** Returns all results, each with its kind, its locale, a description and a text. `allZones` are names of time zones. */
export function results(allZones) {
  const all = [];
  const add = (kind, locale, given, use) =>
    all.push([kind, locale, given.map((each) => JSON.stringify(each) ?? String(each)).join(" "), String(outcome(use))]);
  for (const locale of locales) {
    for (const options of numberOptions)
      for (const number of numbers) {
        const kind = options?.style ?? (options?.notation ? "notation" : "decimal");
        add(kind, locale, [String(number), options], () => new Intl.NumberFormat(locale, options).format(number));
      }
    for (const number of [123456789012345678901n, -5n])
      add("decimal", locale, [String(number)], () => number.toLocaleString(locale));
    add("decimal", locale, ["parts"], () =>
      JSON.stringify(new Intl.NumberFormat(locale, numberOptions[11]).formatToParts(-1234.5)),
    );
    for (const options of dateOptions)
      for (const date of dates)
        add("date", locale, [date, options], () => new Intl.DateTimeFormat(locale, options).format(new Date(date)));
    for (const timeZone of zones)
      for (const date of dates)
        for (const options of [
          { timeZone },
          { timeZone, dateStyle: "short", timeStyle: "long" },
          ...zoneNames.map((timeZoneName) => ({ timeZone, hour: "numeric", timeZoneName })),
        ])
          add("time zone", locale, [date, options], () => new Date(date).toLocaleString(locale, options));
    for (const method of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"])
      for (const options of [
        undefined,
        { month: "long" },
        { hour: "numeric" },
        { dateStyle: "short" },
        { timeStyle: "short" },
      ])
        add("date", locale, [method, options], () => new Date(dates[0])[method](locale, options));
    add("date", locale, ["parts"], () =>
      JSON.stringify(new Intl.DateTimeFormat(locale, dateOptions[10]).formatToParts(new Date(dates[0]))),
    );
    add("date range", locale, [], () =>
      new Intl.DateTimeFormat(locale, { dateStyle: "long" }).formatRange(new Date(dates[0]), new Date(dates[1])),
    );
    for (const type of ["cardinal", "ordinal"])
      for (const number of [0, 1, 2, 3, 4, 5, 11, 21, 22, 101, 1.5, 1000000]) {
        add("plural", locale, [number, type], () => new Intl.PluralRules(locale, { type }).select(number));
      }
    for (const unit of ["second", "day", "month", "year"])
      for (const numeric of ["always", "auto"])
        for (const value of [-1, 0, 1, 2, -5])
          add("relative time", locale, [value, unit, numeric], () =>
            new Intl.RelativeTimeFormat(locale, { numeric }).format(value, unit),
          );
    for (const type of ["conjunction", "disjunction"])
      for (const list of [["a"], ["a", "b"], ["a", "b", "c"]])
        add("list", locale, [list, type], () => new Intl.ListFormat(locale, { type }).format(list));
    for (const [type, codes] of [
      ["region", ["DE", "US", "EG"]],
      ["language", ["de", "en-GB", "ar"]],
      ["currency", ["EUR", "USD"]],
      ["script", ["Latn"]],
    ])
      for (const code of codes)
        add("display name", locale, [type, code], () => new Intl.DisplayNames(locale, { type }).of(code));
    add("list of values", locale, [], () => [1234.5, new Date(dates[0]), null].toLocaleString(locale));
  }
  for (const zone of allZones) add("each time zone", "en", [zone], () => times(zone));
  const errors = [
    ["a time zone", () => new Date(0).toLocaleString("en", { timeZone: "Nowhere/Else" })],
    ["a locale", () => new Date(0).toLocaleString("not_a_locale")],
    ["a currency", () => (1).toLocaleString("en", { style: "currency" })],
    ["a style", () => new Date(0).toLocaleDateString("en", { timeStyle: "short" })],
    ["an invalid date", () => new Date(Number.NaN).toLocaleString("en")],
    ["an invalid date for a class", () => new Intl.DateTimeFormat("en").format(Number.NaN)],
    ["the zone", () => new Intl.DateTimeFormat().resolvedOptions().timeZone],
    ["a region", () => new Intl.NumberFormat("de-DE").resolvedOptions().locale],
    ["a tag", () => Intl.getCanonicalLocales(["EN-us", "zh-hant-tw"])],
    ["Locale", () => new Intl.Locale("zh-TW").maximize()],
  ];
  for (const [name, use] of errors) add("other", "", [name], use);
  return all;
}
