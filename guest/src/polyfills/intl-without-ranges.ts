/**
 * Leaves the patterns of `formatRange` out of the data of `Intl.DateTimeFormat`. They are four fifths of it, and the build
 * adds this module where nothing names that method.
 */
interface Data {
  readonly data: { readonly intervalFormats: { readonly intervalFormatFallback: string } };
}

const target = Intl.DateTimeFormat as unknown as { __addLocaleData: (...data: Data[]) => void };
const add = target.__addLocaleData;
target.__addLocaleData = (...all) => {
  for (const { data, ...rest } of all) {
    const { intervalFormatFallback } = data.intervalFormats;
    add({ ...rest, data: { ...data, intervalFormats: { intervalFormatFallback } } });
  }
};

export {};
