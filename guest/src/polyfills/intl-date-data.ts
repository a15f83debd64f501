/**
 * Changes the data of `Intl.DateTimeFormat` before formatjs reads it, so that it formats as engines do:
 *
 * - Narrow spaces are plain ones, as in V8, because programs parse what it writes.
 * - Short skeletons come first. Those with the same fields are equally good for formatjs, which takes the first: the Japanese
 *   skeletons `yMMMd` and `yMd` both have numbers only.
 * - Dates with the names of months and times are joined as in the styles `full` and `long`: "at", and not a comma.
 * - The names of time zones stand under the names that zones have today. CLDR keeps them under the first ones.
 */
import { atTimeKey } from "@tenon/sdk/abi";

type Formats = Readonly<Record<string, string>>;
type Styles = Readonly<Record<"full" | "long" | "medium" | "short", string>>;
interface Data {
  readonly locale: string;
  readonly data: {
    readonly dateFormat: Styles;
    readonly dateTimeFormat: Styles;
    readonly formats: Readonly<Record<string, Formats>>;
    readonly timeZoneName: Readonly<Record<string, unknown>>;
  };
}

/** The patterns that join dates and times, by locale. The build sets it from its table. */
const atTime = (globalThis as unknown as Record<symbol, Readonly<Record<string, Pick<Styles, "full" | "long">>>>)[
  atTimeKey
];

const renamed = [
  ["America/Buenos_Aires", "America/Argentina/Buenos_Aires"],
  ["America/Catamarca", "America/Argentina/Catamarca"],
  ["America/Cordoba", "America/Argentina/Cordoba"],
  ["America/Jujuy", "America/Argentina/Jujuy"],
  ["America/Mendoza", "America/Argentina/Mendoza"],
  ["America/Godthab", "America/Nuuk"],
  ["America/Indianapolis", "America/Indiana/Indianapolis"],
  ["America/Louisville", "America/Kentucky/Louisville"],
  ["Asia/Calcutta", "Asia/Kolkata"],
  ["Asia/Katmandu", "Asia/Kathmandu"],
  ["Asia/Rangoon", "Asia/Yangon"],
  ["Asia/Saigon", "Asia/Ho_Chi_Minh"],
  ["Atlantic/Faeroe", "Atlantic/Faroe"],
  ["Europe/Kiev", "Europe/Kyiv"],
  ["Pacific/Enderbury", "Pacific/Kanton"],
  ["Pacific/Ponape", "Pacific/Pohnpei"],
  ["Pacific/Truk", "Pacific/Chuuk"],
] as const;

const target = Intl.DateTimeFormat as unknown as { __addLocaleData: (...data: Data[]) => void };
const add = target.__addLocaleData;
target.__addLocaleData = (...all) => {
  for (const each of all) {
    const { data, locale, ...rest } = JSON.parse(JSON.stringify(each).replaceAll("\u202f", " ")) as Data;
    const join = atTime?.[locale];
    const formats = Object.entries(data.formats).map(([calendar, given]) => {
      return [calendar, shortFirst(join === undefined ? given : joined(given, data, join))];
    });
    const timeZoneName = { ...data.timeZoneName };
    for (const [before, after] of renamed) if (before in timeZoneName) timeZoneName[after] ??= timeZoneName[before];
    const dateTimeFormat = { ...data.dateTimeFormat, ...join };
    add({ ...rest, locale, data: { ...data, dateTimeFormat, formats: Object.fromEntries(formats), timeZoneName } });
  }
};

function shortFirst(formats: Formats): Formats {
  return Object.fromEntries(Object.entries(formats).sort(([one], [other]) => one.length - other.length));
}

/** Joins the patterns anew that formatjs made of a date with a month's name and a time. */
function joined(formats: Formats, data: Data["data"], join: Pick<Styles, "full" | "long">): Formats {
  const dates = [...Object.keys(formats), ...Object.values(data.dateFormat)]
    .filter((skeleton) => /MMMM/.test(skeleton) && !/[hHkKBms]/.test(skeleton))
    .sort((one, other) => other.length - one.length)
    .map((skeleton) => {
      const style = /[Ec]/.test(skeleton) ? "full" : "long";
      const between = /^\{1\}(.*)\{0\}$/.exec(data.dateTimeFormat[style])?.[1];
      return { skeleton, pattern: formats[skeleton] ?? skeleton, between, join: join[style] };
    });
  const entries = Object.entries(formats).map(([skeleton, pattern]) => {
    const date = dates.find(({ skeleton: own, between, ...each }) => {
      const isStart = between !== undefined && skeleton.startsWith(own + between);
      return isStart && pattern.startsWith(each.pattern + between);
    });
    if (date === undefined) return [skeleton, pattern];
    const time = pattern.slice(`${date.pattern}${date.between}`.length);
    return [skeleton, date.join.replace("{1}", () => date.pattern).replace("{0}", () => time)];
  });
  return Object.fromEntries(entries);
}
