/** Completes the `Intl` of formatjs, and uses each class once per locale, so that requests find the data read. */
interface Polyfilled {
  readonly availableLocales?: Iterable<string>;
}

Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });

/** Formats the elements of a list by locale (ECMA-402, section 20.5), which the engine's own method does not. */
function toLocaleString(this: ArrayLike<unknown>, locales?: unknown, options?: unknown): string {
  const text = (each: unknown) =>
    each === undefined || each === null
      ? ""
      : String((each as { toLocaleString(...rest: unknown[]): string }).toLocaleString(locales, options));
  return Array.from(this, text).join(",");
}

for (const { prototype } of [Array, Object.getPrototypeOf(Uint8Array) as ArrayConstructor]) {
  Object.defineProperty(prototype, "toLocaleString", { value: toLocaleString, writable: true, configurable: true });
}

const uses: Readonly<Record<string, (locale: string) => unknown>> = {
  PluralRules: (locale) => new Intl.PluralRules(locale).select(1),
  NumberFormat: (locale) => [
    new Intl.NumberFormat(locale).format(1234.5),
    new Intl.NumberFormat(locale, { style: "currency", currency: "EUR" }).format(1),
  ],
};
for (const [name, use] of Object.entries(uses)) {
  const { availableLocales = [] } = ((Intl as Record<string, unknown>)[name] ?? {}) as Polyfilled;
  for (const locale of availableLocales) use(locale);
}

export {};
