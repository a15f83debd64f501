/**
 * The methods of dates that format by locale (ECMA-402, section 20.4), in the place of those of formatjs, which answer
 * `Invalid Date` for an unknown locale or time zone instead of throwing a `RangeError`. The first use of a locale reads its
 * patterns, which takes most of a second, so that happens while the component is built.
 */
type Options = Intl.DateTimeFormatOptions;

const ofDate = ["weekday", "year", "month", "day"] as const;
const ofTime = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"] as const;
const byDefault = { date: ["year", "month", "day"], time: ["hour", "minute", "second"] } as const;

const { DateTimeFormat } = Intl;

/** Adds the default parts of a method, unless the options name one of its own parts. */
function complete(given: Options | undefined, required: "date" | "time" | "any", shown: readonly string[]): Options {
  const options: Options & Record<string, unknown> = Object.create(given === undefined ? null : Object(given));
  const about = [...(required === "time" ? [] : ofDate), ...(required === "date" ? [] : ofTime)];
  const { dateStyle, timeStyle } = options;
  if ((required === "date" && timeStyle !== undefined) || (required === "time" && dateStyle !== undefined)) {
    throw new TypeError(`Invalid option : ${required === "date" ? "timeStyle" : "dateStyle"}`);
  }
  if (dateStyle !== undefined || timeStyle !== undefined || about.some((name) => options[name] !== undefined)) {
    return options;
  }
  for (const name of shown) options[name] = "numeric";
  return options;
}

const methods = {
  toLocaleString: ["any", [...byDefault.date, ...byDefault.time]],
  toLocaleDateString: ["date", byDefault.date],
  toLocaleTimeString: ["time", byDefault.time],
} as const;

/** Formatters by their arguments: choosing the pattern for a set of options costs more than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const most = 100;

function formatterOf(name: keyof typeof methods, locales: string | string[] | undefined, options: Options | undefined) {
  const isPlain = options === undefined || Object.getPrototypeOf(Object(options)) === Object.prototype;
  // A locale may be an object.
  const key = isPlain ? JSON.stringify([name, locales && [locales].flat().map(String), options]) : "";
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const [required, shown] = methods[name];
  const formatter = new DateTimeFormat(locales, complete(options, required, shown));
  if (isPlain && formatters.size < most) formatters.set(key, formatter);
  return formatter;
}

for (const name of Object.keys(methods) as (keyof typeof methods)[]) {
  const value = function (this: Date, locales?: string | string[], options?: Options): string {
    const time = Date.prototype.getTime.call(this);
    return Number.isNaN(time) ? "Invalid Date" : formatterOf(name, locales, options).format(time);
  };
  Object.defineProperty(value, "name", { value: name, configurable: true });
  Object.defineProperty(Date.prototype, name, { value, writable: true, configurable: true });
}

const { availableLocales } = DateTimeFormat as unknown as { availableLocales: Iterable<string> };
for (const locale of [undefined, ...availableLocales]) {
  for (const name of Object.keys(methods) as (keyof typeof methods)[]) formatterOf(name, locale, undefined).format(0);
  new DateTimeFormat(locale, { dateStyle: "full", timeStyle: "full" }).format(0);
}

export {};
