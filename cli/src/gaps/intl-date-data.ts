/**
 * Changes the data of `Intl.DateTimeFormat` before formatjs reads it, so that it formats as engines do:
 *
 * - Narrow spaces are plain ones, as in V8, because programs parse what it writes.
 * - Short skeletons come first. Those with the same fields are equally good for formatjs, which takes the first: the Japanese
 *   skeletons `yMMMd` and `yMd` both have numbers only.
 * - The names of time zones stand under the names that zones have today. CLDR keeps them under the first ones.
 */
type Formats = Readonly<Record<string, string>>;
interface Data {
  readonly data: {
    readonly formats: Readonly<Record<string, Formats>>;
    readonly timeZoneName: Readonly<Record<string, unknown>>;
  };
}

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
    const { data, ...rest } = JSON.parse(JSON.stringify(each).replaceAll("\u202f", " ")) as Data;
    const formats = Object.entries(data.formats).map(([calendar, given]) => [calendar, shortFirst(given)]);
    const timeZoneName = { ...data.timeZoneName };
    for (const [before, after] of renamed) if (before in timeZoneName) timeZoneName[after] ??= timeZoneName[before];
    add({ ...rest, data: { ...data, formats: Object.fromEntries(formats), timeZoneName } });
  }
};

function shortFirst(formats: Formats): Formats {
  return Object.fromEntries(Object.entries(formats).sort(([one], [other]) => one.length - other.length));
}

export {};
