// The reasons for results that differ from Node's.

/** Zones whose rules the database of formatjs has in a later version. */
const changed = ["Casablanca", "El_Aaiun", "Edmonton", "Inuvik", "Vancouver", "Winnipeg"];

/** In the order of their tests: the first that fits counts. */
const reasons = [
  {
    fits: ({ name }) => /"UTC".*shortOffset/.test(name),
    reason: '`timeZoneName: "shortOffset"` of UTC is `GMT` and not `GMT+0`',
  },
  {
    fits: ({ kind, name, text }) => kind === "time zone" && name.includes("1969") && /[-+−]\d/.test(text),
    reason: "before 1970 Node writes offsets in the place of the names of time zones",
  },
  {
    fits: ({ kind, name }) => kind === "each time zone" && changed.some((zone) => name.includes(zone)),
    reason: "time zones whose rules from 2026 on differ between the two databases",
  },
  {
    fits: ({ kind, text, other }) => kind === "time zone" && text.replace("h ", " ") === other,
    reason: "Polish hours beside the name of a time zone lack their `h`",
  },
  {
    fits: ({ locale, name }) => locale === "pl" && name.includes('{"month":"long","year":"numeric"}'),
    reason:
      "a month beside a year only is in the genitive (`lipca 2026` for `lipiec 2026`); the build refuses it in a handler",
  },
  {
    fits: ({ text }) => text.startsWith("24:"),
    reason: "`hour12: false` writes midnight as 00, as in newer engines, and not as 24",
  },
  {
    fits: ({ text }) => /^0 [AP]M$/.test(text),
    reason: "`hour12: true` counts from 1 to 12 where Node counts from 0 to 11",
  },
  {
    fits: ({ name }) => name.includes('{"hour":"numeric","minute":"2-digit"}'),
    reason: '`hour: "numeric"` with minutes has two digits where the locale\'s own pattern has them',
  },
  {
    fits: ({ name }) => name.includes('"toLocaleTimeString" {"month":"long"}'),
    reason: "a month and a time are joined as a date of the style `medium` and a time",
  },
  { fits: ({ kind }) => kind === "date range", reason: "`formatRange` has other spaces, and other zeros in Japanese" },
  {
    fits: ({ name }) => /^"(?:1e\+21|NaN|-Infinity)"/.test(name),
    reason: "numbers beyond 10^20, infinity and NaN have another grouping, plural or space",
  },
  {
    fits: ({ name }) => name === '"parts"',
    reason: "`formatToParts` splits literals in other places",
  },
];

/** The reason for a difference; undefined when there is none. */
export const reasonFor = (difference) => reasons.find(({ fits }) => fits(difference))?.reason;
